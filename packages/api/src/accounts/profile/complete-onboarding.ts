import { and, eq, isNull } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { users } from '../../db/schema/accounts.ts';
import type { Client } from '../../security/client.ts';
import { type Principal, requireApproved } from '../../sessions/principal.ts';

/**
 * Records that a user has completed onboarding. Idempotent.
 *
 * @throws AppError UNAUTHENTICATED if no user is signed in; AWAITING_APPROVAL before approval.
 */
export async function onboard(app: App, principal: Principal | null, client: Client): Promise<void> {
  const { user } = requireApproved(principal);

  await app.db.transaction(async (tx) => {
    const updated = await tx
      .update(users)
      .set({ onboardedAt: app.now() })
      .where(and(eq(users.id, user.id), isNull(users.onboardedAt)))
      .returning({ id: users.id });
    if (updated.length === 0) return;
    await recordAudit(tx, app.now(), { action: 'onboarded', actorId: user.id, userId: user.id, client });
  });
}
