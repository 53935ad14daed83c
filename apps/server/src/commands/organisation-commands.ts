import type { App } from '@gatehouse/api/app';
import { correctUsage } from '@gatehouse/api/billing/usage/correct-usage';
import { commandLine } from '@gatehouse/api/operators/actor';
import { findOrganisation } from '@gatehouse/api/operators/find-accounts';
import { listOrganisations } from '@gatehouse/api/operators/organisations/read-organisations';
import { restoreOrganisation, suspendOrganisation } from '@gatehouse/api/operators/organisations/suspend-organisation';
import { type Command, InvalidArgumentError } from 'commander';
import { jsonOption, listing, notBlank, type Perform } from './answer.ts';

/** Adds the commands about an organisation. */
export function addOrganisationCommands(program: Command, perform: Perform): void {
  program
    .command('organisations')
    .description('lists the organisations')
    .argument('[SEARCH]', 'a part of the name or slug')
    .option(...jsonOption)
    .action((search = '', { json = false }) =>
      perform(async (app) => listing(await findAll(app, search), json, lineOf, 'There are no such organisations.')),
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
}

function wholeNumber(value: string): number {
  if (!/^\d+$/.test(value)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(value);
}

type Organisation = Awaited<ReturnType<typeof listOrganisations>>['organisations'][number];

async function findAll(app: App, search: string): Promise<Organisation[]> {
  const found: Organisation[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const page = await listOrganisations(app, commandLine, { search, rows: 1000, ...(after && { after }) });
    found.push(...page.organisations);
    after = page.next;
  }
  return found;
}

/** Returns slug, status, plan, owner, day of the creation and name. */
function lineOf({ slug, status, plan, owner, created_at, name }: Organisation): string {
  const shown = plan.status === 'none' ? plan.tier : `${plan.tier} (${plan.status})`;
  return [slug, status, shown, owner ?? 'no owner', `since ${created_at.slice(0, 10)}`, name]
    .filter(Boolean)
    .join('  ');
}
