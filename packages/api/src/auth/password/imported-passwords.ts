import { and, eq, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { AppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import type { ClientAddress } from '../../platform/security/client.ts';
import { comparedForm, hashPassword, verifyPassword } from '../../platform/security/password.ts';
import { readPasswordHash } from './confirm-password.ts';

/** Whether a hash of another system is stored. */
export async function areHashesImported({ sql }: App): Promise<boolean> {
  const [row] = await sql<[{ found: boolean }]>`
    select exists (select from users where password_hash like 'imported:%') as found`;
  return row.found;
}

type Matched = { userId: string; matched: string; password: string };

/**
 * Replaces a hash of another system by one of ours, once the password matched it. Returns the hash that is stored now.
 *
 * @throws AppError UNAUTHENTICATED if the password was changed to another one meanwhile; BUSY if too many passwords are
 *   being hashed.
 */
export async function replaceImported(
  app: App,
  { userId, matched, password }: Matched,
  client: ClientAddress,
): Promise<string> {
  const passwordHash = await hashPassword(comparedForm(password), client);
  const isUnchanged = and(eq(users.id, userId), eq(users.passwordHash, matched));
  const [replaced] = await app.db.update(users).set({ passwordHash }).where(isUnchanged).returning({ id: users.id });
  if (replaced !== undefined) return passwordHash;

  // Another sign-in at the same time was first.
  const current = await readPasswordHash(app.db, userId);
  if (current === null || !(await verifyPassword(current, password, client))) {
    throw new AppError('UNAUTHENTICATED', message('wrong_credentials'));
  }
  return current;
}

const batchSize = 1000;

/** Drops the hashes of other systems whose users have not signed in for RETENTION_DAYS since the import. */
export async function dropUnusedImports(app: App): Promise<void> {
  const cutoff = new Date(app.now().getTime() - app.config.retentionDays * dayMilliseconds).toISOString().slice(0, 10);
  for (;;) {
    const { count } = await app.db.execute(sql`
      update users set password_hash = null where id in (
        select id from users where password_hash like 'imported:%' and split_part(password_hash, ':', 2) < ${cutoff}
        limit ${batchSize} for update skip locked)`);
    if (count < batchSize) return;
  }
}
