import { and, eq, isNull } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import type { Client } from '../../platform/security/client.ts';
import type { Approved } from '../principal.ts';

/** Records that a user has completed onboarding. Idempotent. */
export async function completeOnboarding(app: App, principal: Approved, client: Client): Promise<void> {
  const { user } = principal;

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
