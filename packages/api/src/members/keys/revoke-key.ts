import { z } from 'zod';
import type { App } from '../../app.ts';
import type { Administrator } from '../../auth/principal.ts';
import { zodMessage } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { lockMembers, requireAdministrator } from '../lock-members.ts';
import { revokeStoredKey } from './store-key.ts';

export const revokeKeyInput = z.object({ id: z.uuid(zodMessage('no_such_key')) });

/**
 * Revokes a key of the principal's organisation: its next request gets 401.
 *
 * @throws AppError NO_ORGANISATION; NOT_FOUND if the organisation has no such key, or it is revoked already; FORBIDDEN
 *   if the principal is no longer an administrator under the lock of the members; UNAUTHENTICATED if the session ended
 *   meanwhile.
 */
export async function revokeKey(
  app: App,
  principal: Administrator,
  { id }: z.output<typeof revokeKeyInput>,
  client: Client,
): Promise<void> {
  const { id: organisationId } = principal.requireOrganisation();

  await app.db.transaction(async (tx) => {
    await requireAdministrator(tx, await lockMembers(tx, organisationId), principal);
    await revokeStoredKey(app, tx, { organisationId, id }, { actorId: principal.user.id, client });
  });
}
