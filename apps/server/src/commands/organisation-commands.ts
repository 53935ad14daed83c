import { correctUsage } from '@gatehouse/api/billing/usage/correct-usage';
import { commandLine } from '@gatehouse/api/operators/actor';
import { findOrganisation } from '@gatehouse/api/operators/find-accounts';
import { listOrganisations } from '@gatehouse/api/operators/organisations/read-organisations';
import { restoreOrganisation, suspendOrganisation } from '@gatehouse/api/operators/organisations/suspend-organisation';
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
