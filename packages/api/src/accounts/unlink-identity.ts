import { and, eq, isNotNull } from 'drizzle-orm';
import type { App } from '../app.ts';
import { record } from '../audit/record.ts';
import { users } from '../db/schema.ts';
import { Refusal } from '../errors.ts';
import { type Principal, requireApproved } from '../sessions/principal.ts';

type Client = { address: string; userAgent: string | null };

/**
 * Takes the identity provider away as a way in. A password must remain.
 *
 * @throws Refusal VALIDATION where nothing is linked, or there is no password.
 */
export async function unlinkIdentity(app: App, principal: Principal | null, client: Client): Promise<void> {
  const { user } = requireApproved(principal);

  await app.db.transaction(async (tx) => {
    const unlinked = await tx
      .update(users)
      .set({ idpSubject: null })
      .where(and(eq(users.id, user.id), isNotNull(users.idpSubject), isNotNull(users.passwordHash)))
      .returning({ id: users.id });
    if (unlinked.length === 0) throw new Refusal('VALIDATION', 'Set a password first: it is your only other way in.');
    await record(tx, app.now(), { action: 'identity-unlinked', actorId: user.id, userId: user.id, client });
  });
}
