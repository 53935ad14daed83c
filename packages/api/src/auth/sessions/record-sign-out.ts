import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Client } from '../../platform/security/client.ts';
import type { Principal } from '../principal.ts';

/** Records a sign-out in the audit log. Does nothing for a caller that is not a user. */
export async function recordSignOut(app: App, principal: Principal | null, client: Client): Promise<void> {
  if (principal?.kind !== 'user') return;
  const { id } = principal.user;
  await recordAudit(app.db, app.now(), { action: 'signed-out', actorId: id, userId: id, client });
}
