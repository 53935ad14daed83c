import type { App } from '@gatehouse/api/app';
import { readKeys } from '@gatehouse/api/members/keys/list-keys';
import { newKeyInput } from '@gatehouse/api/members/keys/store-key';
import { commandLine } from '@gatehouse/api/operators/actor';
import { findOrganisation } from '@gatehouse/api/operators/find-accounts';
import { createOperatorKey, revokeAnyKey } from '@gatehouse/api/operators/keys';
import { AppError, invalid } from '@gatehouse/api/platform/errors';
import { listing } from './listing.ts';

type NewKey = { name: string; scope: string; slug: string; days: string };

/**
 * Prints only the key, so that a program can read it.
 *
 * @throws AppError VALIDATION if the name, scope or days are invalid.
 */
export async function createApiKey(app: App, { name, scope, slug, days }: NewKey): Promise<string> {
  const input = newKeyInput.safeParse({
    name,
    ...(scope !== '' && { scope }),
    ...(days !== '' && { expires_in_days: Number(days) }),
  });
  if (!input.success)
    throw invalid({ key: input.error.issues[0]?.message ?? 'These are not the settings of an API key.' });

  const organisationId = slug === '' ? null : (await findOrganisation(app.db, slug)).id;
  const { key } = await createOperatorKey(app, { organisationId }, input.data, commandLine);
  return key;
}

type Key = Awaited<ReturnType<typeof readKeys>>[number];

/** Prints a line for each key: id, state, owner, scopes, the part that may be shown, dates and name. */
export async function listApiKeys(app: App, json: boolean): Promise<string> {
  return listing(await readKeys(app, {}), json, lineOf, 'There are no API keys.');
}

function lineOf({ id, state, organisation, scopes, hint, last_used_at, expires_at, name }: Key): string {
  const used = `used ${last_used_at?.slice(0, 10) ?? 'never'}`;
  const expires = `expires ${expires_at?.slice(0, 10) ?? 'never'}`;
  return [id, state, organisation?.slug ?? 'deployment', scopes.join(' '), hint, used, expires, name].join('  ');
}

/** @throws AppError NOT_FOUND if there is no such key. */
export async function revokeApiKey(app: App, id: string): Promise<string> {
  if (!isId.test(id)) throw new AppError('NOT_FOUND', `There is no API key with the id ${id}.`);
  await revokeAnyKey(app, { id }, commandLine);
  return `Revoked ${id}.`;
}

const isId = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
