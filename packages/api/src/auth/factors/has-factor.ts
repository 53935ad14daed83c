import { and, asc, eq, gt, isNotNull, isNull, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Executor } from '../../platform/db/client.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { passkeys, totpSecrets } from '../../platform/db/schema/factors.ts';
import { minuteMilliseconds } from '../../platform/durations.ts';
import { decryptSecret } from '../../platform/security/encryption.ts';
import { countRecoveryCodes } from './recovery-codes.ts';
import { totpPurpose } from './totp.ts';

/**
 * Whether the user of a query on `users` has a second factor: a passkey or an authenticator app. One that can no longer
 * be used (a secret that no key decrypts, a passkey that is refused) stays one, and is never a way past. Written as text,
 * because drizzle leaves the tables' names out of columns in a query on one table.
 */
export const hasPasskey = sql<boolean>`exists (select from passkeys where passkeys.user_id = users.id)`;
export const hasTotp = sql<boolean>`exists (
  select from totp_secrets where totp_secrets.user_id = users.id and totp_secrets.confirmed_at is not null
)`;
export const hasFactor = sql<boolean>`(${hasPasskey} or ${hasTotp})`;

/** Whether a user has a second factor, as `hasFactor` says. */
export async function userHasFactor(db: Executor, userId: string): Promise<boolean> {
  const [found] = await db.select({ hasFactor }).from(users).where(eq(users.id, userId));
  return found?.hasFactor === true;
}

/** A way to do the second step. */
export type Method = 'passkey' | 'totp' | 'recovery_code';

/** Returns the ways that a user can use, whatever the limits. May be empty: then only a reset helps. */
export async function usableMethods(app: App, db: Executor, userId: string): Promise<Method[]> {
  const methods: Method[] = [];
  const usable = and(eq(passkeys.userId, userId), isNull(passkeys.refusedAt));
  if ((await db.$count(passkeys, usable)) > 0) methods.push('passkey');
  if ((await readTotp(app, db, userId)) !== null) methods.push('totp');
  if ((await countRecoveryCodes(db, userId)) > 0) methods.push('recovery_code');
  return methods;
}

/** Returns the confirmed secret of a user's authenticator app; null if there is none that can be decrypted. */
export async function readTotp(app: App, db: Executor, userId: string) {
  const isConfirmed = and(eq(totpSecrets.userId, userId), isNotNull(totpSecrets.confirmedAt));
  const [row] = await db.select().from(totpSecrets).where(isConfirmed);
  return row === undefined ? null : decrypted(app, row);
}

/** For so long a secret can be confirmed. One that somebody else began before the password changed is never offered. */
const setupMinutes = 15;

/** Returns the secret that a user is setting up; null if there is none, or it is too old. */
export async function readPendingTotp(app: App, db: Executor, userId: string) {
  const since = new Date(app.now().getTime() - setupMinutes * minuteMilliseconds);
  const isYoung = gt(totpSecrets.createdAt, since);
  const isPending = and(eq(totpSecrets.userId, userId), isNull(totpSecrets.confirmedAt), isYoung);
  const [row] = await db.select().from(totpSecrets).where(isPending);
  return row === undefined ? null : decrypted(app, row);
}

function decrypted({ config }: App, row: typeof totpSecrets.$inferSelect) {
  const { id, userId, secret: stored, encryptedBy, lastStep, createdAt } = row;
  const secret = decryptSecret(config.secretKeys, { stored, encryptedBy }, totpPurpose(userId));
  return secret === null ? null : { id, secret, lastStep, createdAt };
}

/** Returns a user's factors, for the user: the passkeys in the order in which they were added. */
export async function readFactors(db: Executor, userId: string) {
  const keys = await db.select().from(passkeys).where(eq(passkeys.userId, userId)).orderBy(asc(passkeys.createdAt));
  const isConfirmed = and(eq(totpSecrets.userId, userId), isNotNull(totpSecrets.confirmedAt));
  const [totp] = await db.select({ confirmedAt: totpSecrets.confirmedAt }).from(totpSecrets).where(isConfirmed);
  return { passkeys: keys, totpSince: totp?.confirmedAt ?? null, codesLeft: await countRecoveryCodes(db, userId) };
}
