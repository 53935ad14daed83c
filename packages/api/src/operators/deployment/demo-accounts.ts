import { eq, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { isLoopback } from '../../platform/config.ts';
import { identities, users } from '../../platform/db/schema/accounts.ts';
import { AppError } from '../../platform/errors.ts';
import { commandLine } from '../actor.ts';
import { readUser } from '../find-accounts.ts';
import { closeUser } from '../users/suspend-user.ts';

/**
 * Marks a user as one of `npm start`'s demo accounts. A service that other machines can
 * reach does not start on a database that holds one.
 *
 * @throws AppError NOT_FOUND; VALIDATION if the canonical base URL is not loopback.
 */
export async function markDemoAccount(app: App, { userId }: { userId: string }): Promise<void> {
  const base = app.config.publicBaseUrl;
  if (base === null || !isLoopback(new URL(base).hostname)) {
    throw new AppError('VALIDATION', 'Demo accounts belong to npm start: PUBLIC_BASE_URL is not on this machine.');
  }

  const { id } = await readUser(app.db, userId);
  await app.db.update(users).set({ demo: true }).where(eq(users.id, id));
}

/**
 * Closes all demo accounts and removes their marks: their passwords, links, sessions, what they made and
 * operator rights end. Their organisations stay as they are. Returns the addresses of the
 * closed accounts.
 */
export function closeDemoAccounts(app: App): Promise<string[]> {
  return app.db.transaction(async (tx) => {
    const demo = await tx
      .select({ id: users.id, email: users.email })
      .from(users)
      .where(eq(users.demo, true))
      .orderBy(users.id)
      .for('update');

    for (const { id } of demo) {
      // One that is suspended already is suspended anew, so that the keys end that were kept then.
      await tx
        .update(users)
        .set({ demo: false, operator: false, passwordHash: null, suspendedAt: null })
        .where(eq(users.id, id));
      await tx.delete(identities).where(eq(identities.userId, id));
      await closeUser(app, tx, { userId: id, reason: 'demo account' }, commandLine);
    }
    return demo.map(({ email }) => email);
  });
}

/**
 * Refuses to start a service that other machines can reach on a database with demo accounts of
 * `npm start`, because their passwords are printed and stored in clear.
 *
 * @throws Error with a sentence for the operator if the canonical base URL is not loopback
 *   and the database holds a demo account.
 */
export async function refuseDemoAccounts({ config, db }: Pick<App, 'config' | 'db'>): Promise<void> {
  if (config.publicBaseUrl !== null && isLoopback(new URL(config.publicBaseUrl).hostname)) return;

  const found = await db.select({ email: users.email }).from(users).where(sql`${users.demo}`).orderBy(users.email);
  if (found.length === 0) return;
  throw new Error(
    `This database holds demo accounts of npm start (${found.map(({ email }) => email).join(', ')}). ` +
      'Give the service another database with DATABASE_URL or DATA_DIR; or, to keep this one, close these accounts ' +
      'by the admin command close-demo-accounts and start again.',
  );
}
