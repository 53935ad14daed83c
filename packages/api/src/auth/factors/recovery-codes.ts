import { and, eq } from 'drizzle-orm';
import { base32 } from 'oslo/encoding';
import type { Executor, Transaction } from '../../platform/db/client.ts';
import { recoveryCodes } from '../../platform/db/schema/factors.ts';
import { hashToken } from '../../platform/security/token.ts';

const codesPerUser = 10;
/** 80 random bits are 16 characters of base32. */
const codeBytes = 10;

/** Makes ten recovery codes in place of a user's earlier ones, and returns them: the table has only their hashes. */
export async function makeRecoveryCodes(tx: Transaction, userId: string): Promise<string[]> {
  const codes = Array.from({ length: codesPerUser }, newCode);
  await tx.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId));
  await tx.insert(recoveryCodes).values(codes.map((code) => ({ userId, codeHash: hashToken(code) })));
  return codes;
}

function newCode(): string {
  return base32.encode(crypto.getRandomValues(new Uint8Array(codeBytes)), { includePadding: false });
}

/** Uses a recovery code, by one statement. Case, blanks and hyphens do not matter. Returns whether it was one. */
export async function useRecoveryCode(tx: Transaction, userId: string, typed: string): Promise<boolean> {
  const code = typed.replace(/[\s-]/g, '').toUpperCase();
  const isTheirs = and(eq(recoveryCodes.userId, userId), eq(recoveryCodes.codeHash, hashToken(code)));
  return (await tx.delete(recoveryCodes).where(isTheirs).returning({ userId: recoveryCodes.userId })).length > 0;
}

export function countRecoveryCodes(db: Executor, userId: string): Promise<number> {
  return db.$count(recoveryCodes, eq(recoveryCodes.userId, userId));
}
