import { z } from 'zod';
import type { App } from '../app.ts';
import { confirmation, confirmUser } from '../auth/password/fresh-sign-in.ts';
import type { Operator } from '../auth/principal.ts';
import { readKeys } from '../members/keys/list-keys.ts';
import {
  type CreatedKey,
  type KeyOwner,
  operatorsKeyInput,
  revokeStoredKey,
  storeKey,
} from '../members/keys/store-key.ts';
import { invalid } from '../platform/errors.ts';
import { zodMessage } from '../platform/messages.ts';
import type { Client } from '../platform/security/client.ts';
import type { Actor } from './actor.ts';
import { lockOperator } from './find-accounts.ts';

export const createDeploymentKeyInput = z.object(confirmation).and(operatorsKeyInput);
export const operatorKeyInput = z.object({ id: z.uuid(zodMessage('no_such_key')) });

/**
 * Creates a key of the deployment, or of an organisation. The answer is the only place that ever
 * holds the key.
 *
 * @throws AppError VALIDATION for an organisation's key with the scope MANAGE, and for password links without it.
 */
export async function createOperatorKey(
  app: App,
  owner: KeyOwner,
  input: z.output<typeof operatorsKeyInput> & { passwordLinks?: boolean },
  actor: Actor,
): Promise<CreatedKey> {
  const manages = input.scope === 'MANAGE';
  if (manages && owner.organisationId !== null) throw invalid({ scope: 'A key of an organisation cannot manage.' });
  if (input.passwordLinks && !manages)
    throw invalid({ scope: 'Only a key with the scope MANAGE makes password links.' });
  return app.db.transaction((tx) => storeKey(app, tx, owner, input, actor, { byOperator: true }));
}

/**
 * Revokes a key, of the deployment or of any organisation.
 *
 * @throws AppError NOT_FOUND if there is no such key, or it is revoked already.
 */
export function revokeAnyKey(app: App, { id }: { id: string }, actor: Actor): Promise<void> {
  return app.db.transaction((tx) => revokeStoredKey(app, tx, { id }, actor));
}

/** Returns the keys of the deployment for the console. */
export function readDeploymentKeys(app: App, _operator: Operator) {
  return readKeys(app, { organisationId: null });
}

/**
 * Creates a key of the deployment in the console. The operator is confirmed first.
 *
 * @throws AppError FRESH_SIGN_IN_REQUIRED; UNAUTHENTICATED for a wrong password, or if the session ended meanwhile;
 *   FORBIDDEN if the mark did; TOO_MANY after 30 keys of a user in an hour.
 */
export async function createDeploymentKey(
  app: App,
  operator: Operator,
  { password, totp, recovery_code, ...input }: z.output<typeof createDeploymentKeyInput>,
  client: Client,
): Promise<CreatedKey> {
  await confirmUser(app, operator, { password, totp, recovery_code }, client);
  await app.throttle.take({ 'api-key-user': operator.user.id });
  const actor = { actorId: operator.user.id, client };
  return app.db.transaction(async (tx) => {
    await lockOperator(tx, operator);
    return storeKey(app, tx, { organisationId: null }, input, actor, { byOperator: true });
  });
}

/**
 * Revokes a key of the deployment in the console.
 *
 * @throws AppError NOT_FOUND if the deployment has no such key, or it is revoked already.
 */
export function revokeDeploymentKey(
  app: App,
  operator: Operator,
  { id }: z.output<typeof operatorKeyInput>,
  client: Client,
): Promise<void> {
  const actor = { actorId: operator.user.id, client };
  return app.db.transaction((tx) => revokeStoredKey(app, tx, { organisationId: null, id }, actor));
}
