import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { confirmation, confirmUser } from '../../auth/password/fresh-sign-in.ts';
import type { Operator } from '../../auth/principal.ts';
import { type EraseOptions, eraseUser } from '../../members/leaving/erase-user.ts';
import { exportUser } from '../../members/leaving/export.ts';
import { keepKeysField } from '../../organisations/started.ts';
import type { Executor } from '../../platform/db/client.ts';
import { AppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { type Actor, inConsole } from '../actor.ts';
import { isOperator } from '../find-accounts.ts';
import { userInput } from './read-users.ts';

/**
 * Erases a user at their request, whatever the account status, as `eraseUser` does. Returns the slugs of the organisations
 * that ended with the account.
 *
 * @throws AppError NOT_FOUND; VALIDATION if the user alone owns an organisation with other members,
 *   unless `withMembers`; BILLING_UNAVAILABLE, PROVIDER_UNAVAILABLE or BUSY if a subscription cannot
 *   be ended; BUSY if the organisations changed meanwhile.
 */
export async function eraseOnRequest(
  app: App,
  { userId, ...options }: { userId: string } & Pick<EraseOptions, 'withMembers' | 'keepKeys' | 'isStillWanted'>,
  { actorId, client }: Actor,
): Promise<{ slugs: string[] }> {
  const erased = await eraseUser(app, { userId }, { actorId, client, ...options });
  if (erased === null) throw new AppError('NOT_FOUND', message('no_such_person'));
  return erased;
}

export const eraseInput = userInput.extend({
  /** Whether organisations that the user alone owns are deleted although they have other members. */
  with_members: z.boolean('This must be true or false.').default(false),
  keep_keys: keepKeysField,
  ...confirmation,
});

/**
 * Erases a user in the console, as `eraseOnRequest` does. The operator is confirmed first. Operators, oneself included,
 * are erased by the command line alone, so that a stolen session cannot remove those who would end it.
 *
 * @throws AppError FRESH_SIGN_IN_REQUIRED; UNAUTHENTICATED for a wrong password; FORBIDDEN for an operator's account; and
 *   as `eraseOnRequest`.
 */
export async function eraseInConsole(
  app: App,
  principal: Operator,
  {
    user_id: userId,
    with_members: withMembers,
    keep_keys: keepKeys = false,
    ...confirming
  }: z.output<typeof eraseInput>,
  client: Client,
): Promise<{ slugs: string[] }> {
  await confirmUser(app, principal, confirming, client);
  const isNoOperator = async (db: Executor) => !(await isOperator(db, userId));
  if (!(await isNoOperator(app.db))) throw new AppError('FORBIDDEN', message('operator_erased_by_command'));
  const options = { userId, withMembers, keepKeys, isStillWanted: isNoOperator };
  return eraseOnRequest(app, options, inConsole(principal, client));
}

/**
 * Returns everything that is stored about a user, at their request, whatever the account status. The
 * audit log records the actor.
 *
 * @throws AppError NOT_FOUND.
 */
export async function exportOnRequest(app: App, { userId }: { userId: string }, actor: Actor) {
  const data = await exportUser(app, userId);
  if (data === null) throw new AppError('NOT_FOUND', message('no_such_person'));
  await recordAudit(app.db, app.now(), { action: 'data-exported', ...actor, userId });
  return data;
}
