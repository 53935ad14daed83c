import { and, desc, eq, gt, lt } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Executor, Transaction } from '../../platform/db/client.ts';
import { newId } from '../../platform/db/id.ts';
import { totpSecrets, wrongCodes } from '../../platform/db/schema/factors.ts';
import { dayMilliseconds, hourMilliseconds } from '../../platform/durations.ts';
import { AppError } from '../../platform/errors.ts';
import { message, zodMessage } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { readPendingTotp, readTotp } from './has-factor.ts';
import { useRecoveryCode } from './recovery-codes.ts';
import { tooManyUntil } from './step-attempt.ts';
import { stepOfCode } from './totp.ts';

const maxWrongPerHour = 20;
const maxWrongPerDay = 60;

const typedCode = z
  .string({ error: zodMessage('enter_code') })
  .max(100, zodMessage('enter_code'))
  // A form sends both fields, one of them empty.
  .transform((code) => code.trim() || undefined)
  .optional();

/** The two kinds of codes, in a body. */
export const codeFields = { totp: typedCode, recovery_code: typedCode };

export type TypedCodes = { totp?: string | undefined; recovery_code?: string | undefined };

export function hasCode({ totp, recovery_code: recoveryCode }: TypedCodes): boolean {
  return totp !== undefined || recoveryCode !== undefined;
}

/** Returns the AppError for a wrong code. */
export function wrongCode(): AppError {
  return new AppError('UNAUTHENTICATED', message('wrong_code'));
}

type Check = { userId: string; codes: TypedCodes; browserHash: string; client: Client };

/**
 * Takes a code of either kind: it counts once. A wrong one counts for a day, whether RATE_LIMITS is off or not. The
 * caller has locked the user's row, so that parallel guesses run in turn, and commits also after a wrong code.
 *
 * @returns whether it was right.
 * @throws AppError TOO_MANY for a code of an app after too many wrong ones; a recovery code still counts then.
 */
export async function takeCode(app: App, tx: Transaction, check: Check): Promise<boolean> {
  const { userId, codes, browserHash } = check;
  const { totp, recovery_code: recoveryCode } = codes;
  if (totp !== undefined) await requireNotLimited(app, tx, { userId, browserHash });
  const right =
    totp !== undefined
      ? await takeTotp(app, tx, await readTotp(app, tx, userId), totp)
      : recoveryCode !== undefined && (await useRecoveryCode(tx, userId, recoveryCode));

  if (!right) await recordWrongCode(app, tx, check);
  else if (totp === undefined) {
    await recordAudit(tx, app.now(), { action: 'recovery-code-used', actorId: userId, userId, client: check.client });
  }
  return right;
}

/** Takes the first code of an app that is being set up, under the same limits. Returns its secret; null if it was wrong. */
export async function takeFirstTotp(app: App, tx: Transaction, check: Check) {
  const pending = await readPendingTotp(app, tx, check.userId);
  await requireNotLimited(app, tx, check);
  if (pending !== null && (await takeTotp(app, tx, pending, check.codes.totp ?? ''))) return pending;

  await recordWrongCode(app, tx, check);
  return null;
}

type Secret = { id: string; secret: string; lastStep: number };

/** One statement takes the step, so that of parallel requests with one code one succeeds; steps only ascend. */
async function takeTotp(app: App, tx: Transaction, totp: Secret | null, typed: string): Promise<boolean> {
  const step = totp === null ? null : await stepOfCode(totp, typed, app.now());
  if (totp === null || step === null) return false;
  const taken = await tx
    .update(totpSecrets)
    .set({ lastStep: step })
    .where(and(eq(totpSecrets.id, totp.id), lt(totpSecrets.lastStep, step)))
    .returning({ id: totpSecrets.id });
  return taken.length > 0;
}

async function recordWrongCode(app: App, tx: Transaction, { userId, browserHash, client }: Check): Promise<void> {
  const at = app.now();
  await tx.insert(wrongCodes).values({ id: newId(at), userId, browserHash, at });
  await recordAudit(tx, at, { action: 'second-factor-failed', userId, client });
}

/** @throws AppError TOO_MANY after 20 wrong codes in an hour, or 60 in a day. */
async function requireNotLimited(
  app: App,
  db: Executor,
  { userId, browserHash }: Pick<Check, 'userId' | 'browserHash'>,
): Promise<void> {
  const now = app.now();
  const isRecent = gt(wrongCodes.at, new Date(now.getTime() - dayMilliseconds));
  const wrong = await db
    .select({ at: wrongCodes.at })
    .from(wrongCodes)
    .where(and(eq(wrongCodes.userId, userId), eq(wrongCodes.browserHash, browserHash), isRecent))
    .orderBy(desc(wrongCodes.at))
    .limit(maxWrongPerDay);

  const ofDay = wrong[maxWrongPerDay - 1]?.at;
  if (ofDay !== undefined) throw tooManyUntil(now, new Date(ofDay.getTime() + dayMilliseconds));
  const ofHour = wrong[maxWrongPerHour - 1]?.at;
  const until = ofHour && new Date(ofHour.getTime() + hourMilliseconds);
  if (until !== undefined && until > now) throw tooManyUntil(now, until);
}

/** Returns how many wrong codes were typed for a user in the last day. */
export function countWrongCodes(app: App, userId: string): Promise<number> {
  const since = new Date(app.now().getTime() - dayMilliseconds);
  return app.db.$count(wrongCodes, and(eq(wrongCodes.userId, userId), gt(wrongCodes.at, since)));
}
