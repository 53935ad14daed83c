import { eq } from 'drizzle-orm';
import type { App } from '../app.ts';
import { recordAudit } from '../audit/record.ts';
import { isLoopback } from '../config.ts';
import { identities, oneTimeTokens, users } from '../db/schema/accounts.ts';
import { sessions } from '../db/schema/sessions.ts';
import { AppError } from '../errors.ts';
import { findUser } from './find-accounts.ts';

/**
 * Marks an account as one of `npm start`'s. A service that other machines reach refuses to
 * start on a database that holds one.
 *
 * @throws AppError NOT_FOUND; VALIDATION where the canonical base URL is not loopback.
 */
export async function markDemoAccount(app: App, email: string): Promise<string> {
  const base = app.config.publicBaseUrl;
  if (base === null || !isLoopback(new URL(base).hostname)) {
    throw new AppError('VALIDATION', 'Demo accounts belong to npm start: PUBLIC_BASE_URL is not on this machine.');
  }

  const found = await findUser(app.db, email);
  await app.db.update(users).set({ demo: true }).where(eq(users.id, found.id));
  return `${found.email} is a demo account.`;
}

/**
 * Closes all demo accounts and removes their marks: their passwords, links, sessions and
 * operator rights end. Their organisations stay as they are.
 */
export function closeDemoAccounts(app: App): Promise<string> {
  return app.db.transaction(async (tx) => {
    const closed = await tx
      .update(users)
      .set({ demo: false, operator: false, passwordHash: null, suspendedAt: app.now() })
      .where(eq(users.demo, true))
      .returning({ id: users.id, email: users.email });
    if (closed.length === 0) return 'There are no demo accounts.';

    for (const { id } of closed) {
      await tx.delete(identities).where(eq(identities.userId, id));
      await tx.delete(oneTimeTokens).where(eq(oneTimeTokens.userId, id));
      await tx.delete(sessions).where(eq(sessions.userId, id));
      await recordAudit(tx, app.now(), { action: 'person-suspended', userId: id, details: { reason: 'demo account' } });
    }
    return `Closed ${closed.map(({ email }) => email).join(', ')}. Their organisations stay: suspend-organisation closes one.`;
  });
}
