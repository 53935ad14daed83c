import { and } from 'drizzle-orm';
import type { z } from 'zod';
import type { App } from '../../app.ts';
import { confirmation, confirmUser } from '../../auth/password/fresh-sign-in.ts';
import type { Administrator } from '../../auth/principal.ts';
import { lockUser } from '../../auth/sessions/account.ts';
import { organisationField, requireSameOrganisation } from '../../auth/sessions/require-same-organisation.ts';
import { isValidKey } from '../../organisations/started.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { apiKeys } from '../../platform/db/schema/keys.ts';
import { invalid } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { lockMembers, requireAdministrator } from '../lock-members.ts';
import { type CreatedKey, newKeyInput, ownedBy, storeKey } from './store-key.ts';

const maxKeys = 20;

export const createKeyInput = newKeyInput.extend({ organisation_id: organisationField, ...confirmation });

/**
 * Creates a key that acts for the principal's organisation alone. The answer is the only place
 * that ever holds the key. The user is confirmed first.
 *
 * @throws AppError NO_ORGANISATION; NOT_FOUND for another organisation; FORBIDDEN if the principal is no longer an
 *   administrator under the lock of the members; VALIDATION if the organisation has 20 valid keys; TOO_MANY after 30
 *   keys of a user in an hour; FRESH_SIGN_IN_REQUIRED; UNAUTHENTICATED for a wrong password, and if the session ended
 *   meanwhile; BUSY if too many passwords are being hashed.
 */
export async function createKey(
  app: App,
  principal: Administrator,
  { organisation_id, password, totp, recovery_code, ...input }: z.output<typeof createKeyInput>,
  client: Client,
): Promise<CreatedKey> {
  const { id: organisationId } = requireSameOrganisation(principal, organisation_id);

  await confirmUser(app, principal, { password, totp, recovery_code }, client);
  await app.throttle.take({ 'api-key-user': principal.user.id });
  return app.db.transaction(async (tx) => {
    // The key names its creator, so the user is locked too, before the organisation (see lockUser).
    await lockUser(tx, principal.user.id);
    await requireAdministrator(tx, await lockMembers(tx, organisationId), principal);
    await requireRoomForKey(app, tx, organisationId);
    return storeKey(app, tx, { organisationId }, input, { actorId: principal.user.id, client });
  });
}

async function requireRoomForKey(app: App, tx: Transaction, organisationId: string): Promise<void> {
  const valid = and(ownedBy(organisationId), isValidKey(app.now()));
  if ((await tx.$count(apiKeys, valid)) >= maxKeys) {
    throw invalid({ name: message('too_many_keys', { maximum: maxKeys }) });
  }
}
