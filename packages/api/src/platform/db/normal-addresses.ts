import { and, asc, eq, notExists, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { readAddress } from '../security/address.ts';
import { unusualAddress, users, verificationLinks } from './schema/accounts.ts';

const others = alias(users, 'others');

type AnyDatabase = Pick<PostgresJsDatabase<Record<string, unknown>>, 'select' | 'update' | '$count'>;

/** A stored address that is not in its normal form. */
export type AbnormalAddress = {
  userId: string;
  email: string;
  /** Null if the stored text is not an address by the current rules. */
  normal: string | null;
  /** Whether another user has the same normal form. */
  collides: boolean;
  suspended: boolean;
};

/**
 * Stores the addresses of earlier versions in their normal form (security/address.ts), because SQL
 * cannot encode domains. An address stays unchanged if another user has its normal form or if it is
 * not an address: `operator doctor` lists it. An index holds the few rows that may be affected, so
 * that this takes one small query at each start.
 */
export async function normaliseAddresses(db: AnyDatabase): Promise<void> {
  for (const { userId, email, normal, collides } of await findAbnormalAddresses(db)) {
    if (normal === null || collides) continue;
    const stored = await db
      .update(users)
      .set({ email: normal })
      .where(and(eq(users.id, userId), notExists(db.select().from(others).where(eq(others.email, normal)))))
      .returning({ id: users.id });
    if (stored.length === 0) continue;
    await db
      .update(verificationLinks)
      .set({ email: normal })
      .where(and(eq(verificationLinks.userId, userId), eq(verificationLinks.email, email)));
  }
}

/** Returns every stored address that is not in its normal form. */
export async function findAbnormalAddresses(db: AnyDatabase): Promise<AbnormalAddress[]> {
  const unusual = await db
    .select({ userId: users.id, email: users.email, suspendedAt: users.suspendedAt })
    .from(users)
    .where(sql`${users.email} ~ ${sql.raw(unusualAddress)}`)
    .orderBy(asc(users.email));
  const abnormal = unusual
    .map(({ suspendedAt, ...row }) => ({ ...row, normal: readAddress(row.email), suspended: suspendedAt !== null }))
    .filter(({ email, normal }) => email !== normal);

  const counts = new Map<string, number>();
  for (const { normal } of abnormal) {
    if (normal === null) continue;
    const before = counts.get(normal) ?? (await db.$count(users, eq(users.email, normal)));
    counts.set(normal, before + 1);
  }
  return abnormal.map((row) => ({ ...row, collides: row.normal !== null && (counts.get(row.normal) ?? 0) > 1 }));
}
