import type { App } from '@gatehouse/api/app';
import { readKeys } from '@gatehouse/api/members/keys/list-keys';
import { operatorsKeyInput } from '@gatehouse/api/members/keys/store-key';
import { commandLine } from '@gatehouse/api/operators/actor';
import { findOrganisation } from '@gatehouse/api/operators/find-accounts';
import { createOperatorKey, revokeAnyKey } from '@gatehouse/api/operators/keys';
import { AppError, invalid } from '@gatehouse/api/platform/errors';
import { readZodMessage } from '@gatehouse/api/platform/messages';
import type { Command } from 'commander';
import { jsonOption, listing, type Perform } from './answer.ts';

type NewKey = { name: string; scope?: string; organisation?: string; expiresDays?: string; passwordLinks?: boolean };

/** Adds `api-key create`, `api-key list` and `api-key revoke`. */
export function addKeyCommands(program: Command, perform: Perform): void {
  const group = program.command('api-key').description('creates, lists and revokes API keys');

  group
    .command('create')
    .description('prints a new API key for your services, once')
    .requiredOption('--name <NAME>', 'what the key is for')
    .option('--scope <SCOPE>', 'READ (the default), WRITE or MANAGE')
    .option('--organisation <SLUG>', 'a key of this organisation alone; without it a key of the deployment')
    .option('--expires-days <N>', 'after how many days the key expires; without it never, with MANAGE after 90')
    .option('--password-links', 'with MANAGE: the key may make password links')
    .action((options: NewKey) => perform((app) => createApiKey(app, options)));

  group
    .command('list')
    .description('lists the API keys')
    .option(...jsonOption)
    .action(({ json = false }) =>
      perform(async (app) => listing(await readKeys(app, {}), json, lineOf, 'There are no API keys.')),
    );

  group
    .command('revoke')
    .description('revokes an API key')
    .argument('<ID>', 'the id of an API key, as api-key list shows it')
    .action((id: string) => perform((app) => revokeApiKey(app, id)));
}

/**
 * Returns only the key, so that a program can read it.
 *
 * @throws AppError VALIDATION if the name, scope or days are invalid.
 */
async function createApiKey(
  app: App,
  { name, scope, organisation, expiresDays, passwordLinks = false }: NewKey,
): Promise<string> {
  const input = operatorsKeyInput.safeParse({
    name,
    ...(scope !== undefined && { scope }),
    ...(expiresDays !== undefined && { expires_in_days: Number(expiresDays) }),
  });
  if (!input.success)
    throw invalid({
      key: readZodMessage(input.error.issues[0]?.message ?? 'These are not the settings of an API key.'),
    });

  const organisationId = organisation === undefined ? null : (await findOrganisation(app.db, organisation)).id;
  const { key } = await createOperatorKey(app, { organisationId }, { ...input.data, passwordLinks }, commandLine);
  return key;
}

type Key = Awaited<ReturnType<typeof readKeys>>[number];

/** Returns id, state, owner, scopes, the part that may be shown, dates and name. */
function lineOf({
  id,
  state,
  organisation,
  scopes,
  password_links,
  hint,
  last_used_at,
  expires_at,
  name,
}: Key): string {
  const used = `used ${last_used_at?.slice(0, 10) ?? 'never'}`;
  const expires = `expires ${expires_at?.slice(0, 10) ?? 'never'}`;
  return [
    id,
    state,
    organisation?.slug ?? 'deployment',
    scopes.join(' ') + (password_links ? ' password-links' : ''),
    hint,
    used,
    expires,
    name,
  ].join('  ');
}

/** @throws AppError NOT_FOUND if there is no such key. */
async function revokeApiKey(app: App, id: string): Promise<string> {
  if (!isId.test(id)) throw new AppError('NOT_FOUND', `There is no API key with the id ${id}.`);
  await revokeAnyKey(app, { id }, commandLine);
  return `Revoked ${id}.`;
}

const isId = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
