import { sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { isLoopback } from '../../platform/config.ts';
import { users } from '../../platform/db/schema/accounts.ts';

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
