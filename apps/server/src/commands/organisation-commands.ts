import { correctUsage } from '@gatehouse/api/billing/usage/correct-usage';
import { commandLine } from '@gatehouse/api/operators/actor';
import { findOrganisation } from '@gatehouse/api/operators/find-accounts';
import { endOverride, overrideFields, setOverride } from '@gatehouse/api/operators/organisations/override';
import { listOrganisations } from '@gatehouse/api/operators/organisations/read-organisations';
import { restoreOrganisation, suspendOrganisation } from '@gatehouse/api/operators/organisations/suspend-organisation';
import { AppError, invalid } from '@gatehouse/api/platform/errors';
import { readZodMessage } from '@gatehouse/api/platform/messages';
import { type Command, InvalidArgumentError } from 'commander';
import { jsonOption, notBlank, type Perform, streamed } from './answer.ts';

/** Adds the commands about an organisation. */
export function addOrganisationCommands(program: Command, perform: Perform): void {
  program
    .command('organisations')
    .description('lists the organisations')
    .argument('[SEARCH]', 'a part of the name or slug')
    .option(...jsonOption)
    .action((search = '', { json = false }) =>
      perform(async (app) => {
        async function readPage(after?: string) {
          const page = await listOrganisations(app, commandLine, { search, rows: 1000, ...(after && { after }) });
          return { rows: page.organisations, next: page.next };
        }
        return streamed(readPage, json, lineOf, 'There are no such organisations.');
      }),
    );

  program
    .command('suspend-organisation')
    .description('suspends an organisation')
    .argument('<SLUG>', 'the slug of an organisation')
    .action((slug: string) =>
      perform(async (app) => {
        const { id } = await findOrganisation(app.db, slug);
        await suspendOrganisation(app, { organisationId: id }, commandLine);
        return `Suspended ${slug}.`;
      }),
    );

  program
    .command('restore-organisation')
    .description('restores a suspended organisation')
    .argument('<SLUG>', 'the slug of an organisation')
    .action((slug: string) =>
      perform(async (app) => {
        const { id } = await findOrganisation(app.db, slug);
        await restoreOrganisation(app, { organisationId: id }, commandLine);
        return `Restored ${slug}.`;
      }),
    );

  program
    .command('usage-correct')
    .description('states what an organisation has used of a meter in the current period')
    .argument('<SLUG>', 'the slug of an organisation')
    .argument('<METER>', 'a counter or a gauge, but members')
    .argument('<VALUE>', 'a whole number', wholeNumber)
    .requiredOption('--reason <TEXT>', 'why; the organisation’s administrators see that it was corrected', notBlank)
    .action((slug: string, meter: string, used: number, { reason }: { reason: string }) =>
      perform(async (app) => {
        const { id: organisationId } = await findOrganisation(app.db, slug);
        const before = await correctUsage(app, { organisationId, meter, used, reason }, commandLine);
        return `${meter} of ${slug}: ${used} in place of ${before}.`;
      }),
    );

  addOverrideCommand(program, perform);
}

/** Adds the command that agrees on more than what an organisation's subscription gives. */
function addOverrideCommand(program: Command, perform: Perform): void {
  program
    .command('override')
    .description(
      'states what was agreed with an organisation beside its subscription, in place of what was agreed before',
    )
    .argument('<SLUG>', 'the slug of an organisation')
    .option('--tier <TIER>', 'a tier; the higher of it and the subscription’s counts')
    .option('--limit <METER=NUMBER>', 'a limit; none is unlimited (may be repeated)', limitOption, {})
    .option('--feature <NAME=true>', 'a feature that is there (may be repeated)', featureOption, {})
    .option('--grace-days <DAYS>', 'days in which a past-due plan stays', wholeNumber)
    .option('--until <DATE>', 'the last day (UTC), or a time such as 2027-01-31T12:00:00Z; without it, it stays')
    .option('--reason <TEXT>', 'why; the audit log keeps it', notBlank)
    .option('--end', 'ends it')
    .action((slug: string, options: OverrideOptions) =>
      perform(async (app) => {
        const { id: organisationId } = await findOrganisation(app.db, slug);
        const { limit: limits, feature: features, graceDays: grace_days, end = false, ...given } = options;
        if (end) {
          const agreed = { ...given, ...limits, ...features, ...(grace_days !== undefined && { grace_days }) };
          if (Object.keys(agreed).length > 0) throw new AppError('VALIDATION', 'Name what was agreed, or --end.');
          const { ended } = await endOverride(app, { organisationId }, commandLine);
          return ended ? `Ended the override of ${slug}.` : `${slug} has no override.`;
        }
        const input = overrideFields.safeParse({ reason: '', ...given, limits, features, grace_days });
        if (!input.success) throw invalid({ override: readZodMessage(input.error.issues[0]?.message ?? '') });
        const { withoutEffect } = await setOverride(app, { organisationId, ...input.data }, commandLine);
        const idle = withoutEffect.map((part) => `Changes nothing now, because the plan gives as much: ${part}.`);
        return [`Set the override of ${slug}.`, ...idle].join('\n');
      }),
    );
}

type OverrideOptions = {
  tier?: string;
  limit: Record<string, number | null>;
  feature: Record<string, boolean>;
  graceDays?: number;
  until?: string;
  reason?: string;
  end?: true;
};

function limitOption(text: string, before: Record<string, number | null>): Record<string, number | null> {
  const [, meter = '', value = ''] = /^([^=]+)=(none|\d+)$/.exec(text) ?? [];
  if (meter === '') throw new InvalidArgumentError('It must be METER=NUMBER or METER=none.');
  return { ...before, [meter]: value === 'none' ? null : Number(value) };
}

function featureOption(text: string, before: Record<string, boolean>): Record<string, boolean> {
  const [, name = '', value = ''] = /^([^=]+)=(true|false)$/.exec(text) ?? [];
  if (name === '') throw new InvalidArgumentError('It must be NAME=true or NAME=false.');
  return { ...before, [name]: value === 'true' };
}

function wholeNumber(value: string): number {
  if (!/^\d+$/.test(value)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(value);
}

type Organisation = Awaited<ReturnType<typeof listOrganisations>>['organisations'][number];

/** Returns slug, status, plan, owner, day of the creation and name. */
function lineOf({ slug, status, plan, owner, created_at, name }: Organisation): string {
  const shown = plan.status === 'none' ? plan.tier : `${plan.tier} (${plan.status})`;
  return [slug, status, shown, owner ?? 'no owner', `since ${created_at.slice(0, 10)}`, name]
    .filter(Boolean)
    .join('  ');
}
