import { and, desc, eq, gt, isNotNull, isNull } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Executor, Transaction } from '../../platform/db/client.ts';
import { knownBrowsers } from '../../platform/db/schema/accounts.ts';
import { stepAttempts } from '../../platform/db/schema/factors.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { minuteMilliseconds } from '../../platform/durations.ts';
import { AppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import { hashToken, newToken } from '../../platform/security/token.ts';

const lifetimeMilliseconds = 10 * minuteMilliseconds;
/** So many begin within the lifetime of one, per user and kind of browser. */
const maxBegun = 60;
/** The wrong answer with which an attempt ends. */
const maxWrongAnswers = 10;

export type StepAttempt = typeof stepAttempts.$inferSelect;

type Begin = Pick<StepAttempt, 'userId' | 'organisationId' | 'idpSubject' | 'linking' | 'browserHash'>;

/**
 * Begins the second step of a sign-in whose first step is done. The caller has locked the user's row. Returns the token
 * for the attempt's cookie.
 *
 * @throws AppError TOO_MANY after 60 within ten minutes.
 */
export async function beginStep(app: App, tx: Transaction, begin: Begin) {
  const now = app.now();
  const { userId, browserHash } = begin;
  const isRecent = gt(stepAttempts.createdAt, new Date(now.getTime() - lifetimeMilliseconds));
  const recent = await tx
    .select({ at: stepAttempts.createdAt })
    .from(stepAttempts)
    .where(and(eq(stepAttempts.userId, userId), eq(stepAttempts.browserHash, browserHash), isRecent))
    .orderBy(desc(stepAttempts.createdAt))
    .limit(maxBegun);
  const oldest = recent[maxBegun - 1]?.at;
  if (oldest !== undefined) throw tooManyUntil(now, new Date(oldest.getTime() + lifetimeMilliseconds));

  const token = newToken();
  const idHash = hashToken(token);
  const expiresAt = new Date(now.getTime() + lifetimeMilliseconds);
  await tx.insert(stepAttempts).values({ ...begin, idHash, createdAt: now, expiresAt });
  return { token, idHash, expiresAt };
}

/** Returns the AppError TOO_MANY that says when to try again. */
export function tooManyUntil(now: Date, until: Date): AppError {
  return new AppError('TOO_MANY', message('too_many_attempts'), {
    retryAfterSeconds: Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000)),
  });
}

/** Returns the attempt of a cookie, also one that has ended; null if there is none, or its ten minutes are over. */
export async function readStep(app: App, db: Executor, token: string): Promise<StepAttempt | null> {
  const isTheirs = and(eq(stepAttempts.idHash, hashToken(token)), gt(stepAttempts.expiresAt, app.now()));
  const [attempt] = await db.select().from(stepAttempts).where(isTheirs);
  return attempt ?? null;
}

/** Counts a wrong answer of an attempt, which ends with the tenth. The caller has locked the user's row. */
export async function countWrongAnswer(app: App, tx: Transaction, attempt: StepAttempt): Promise<void> {
  const wrongAnswers = attempt.wrongAnswers + 1;
  await tx.update(stepAttempts).set({ wrongAnswers }).where(eq(stepAttempts.idHash, attempt.idHash));
  if (wrongAnswers >= maxWrongAnswers) await endStep(app, tx, attempt.idHash);
}

/** Ends an attempt, and the session that waits for it. */
export async function endStep(app: App, tx: Transaction, idHash: string): Promise<void> {
  await tx.update(stepAttempts).set({ endedAt: app.now() }).where(eq(stepAttempts.idHash, idHash));
  await tx.delete(sessions).where(eq(sessions.stepHash, idHash));
}

/**
 * Ends all attempts of a user between the two steps, with the sessions that wait for them, and no browser of theirs is
 * trusted any more. The caller has locked the user's row.
 */
export async function endStepsAndTrust(app: App, tx: Transaction, userId: string): Promise<void> {
  const isOpen = and(eq(stepAttempts.userId, userId), isNull(stepAttempts.endedAt));
  await tx.update(stepAttempts).set({ endedAt: app.now() }).where(isOpen);
  await tx.delete(sessions).where(and(eq(sessions.userId, userId), isNotNull(sessions.stepHash)));
  await endTrust(tx, userId);
}

/** No browser of a user is trusted any more; of nobody without `userId`. */
export async function endTrust(tx: Transaction, userId?: string): Promise<void> {
  const isTheirs = userId === undefined ? undefined : eq(knownBrowsers.userId, userId);
  await tx
    .update(knownBrowsers)
    .set({ trustedUntil: null })
    .where(and(isTheirs, isNotNull(knownBrowsers.trustedUntil)));
}
