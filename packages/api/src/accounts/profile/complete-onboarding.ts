import { and, eq, isNull } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { users } from '../../db/schema/accounts.ts';
import type { Client } from '../../security/client.ts';
import { type Principal, requireApproved } from '../../sessions/principal.ts';

/** Notes that a person has passed the first screen, once; again changes nothing. */
export async function onboard(app: App, principal: Principal | null, client: Client): Promise<void> {
  const { user } = requireApproved(principal);

  await app.db.transaction(async (tx) => {
    const passed = await tx
      .update(users)
      .set({ onboardedAt: app.now() })
      .where(and(eq(users.id, user.id), isNull(users.onboardedAt)))
      .returning({ id: users.id });
    if (passed.length === 0) return;
    await recordAudit(tx, app.now(), { action: 'onboarded', actorId: user.id, userId: user.id, client });
  });
}
