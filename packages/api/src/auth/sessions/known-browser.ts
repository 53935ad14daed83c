import { and, desc, eq, gt, isNull, lte, ne, notInArray, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { type Executor, prepared, type Transaction } from '../../platform/db/client.ts';
import { deleteInSteps } from '../../platform/db/in-steps.ts';
import { knownBrowsers, users } from '../../platform/db/schema/accounts.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import type { Client } from '../../platform/security/client.ts';
import { hashToken, newToken } from '../../platform/security/token.ts';
import type { UserPrincipal } from '../principal.ts';

/** How long a browser stays known after the last sign-in from it. Browsers keep no cookie for longer. */
export const knownBrowserDays = 400;

/** The most browsers kept for one user. Beyond that, those with the oldest sign-ins are deleted. */
const maxBrowsersPerUser = 20;

/**
 * Returns the token for the cookie of a browser that signs in, and the hash under which it is stored: the token that
 * the browser sent if this service issued it, so that several users of one browser share it; otherwise a new one. A
 * value that this service did not issue is never kept.
 */
export async function tokenForBrowser(app: App, sent: string | null): Promise<{ token: string; hash: string }> {
  if (sent !== null) {
    const hash = hashToken(sent);
    const [issued] = await app.db
      .select({ userId: knownBrowsers.userId })
      .from(knownBrowsers)
      .where(and(eq(knownBrowsers.tokenHash, hash), notExpired(app)))
      .limit(1);
    if (issued !== undefined) return { token: sent, hash };
  }
  const token = newToken();
  return { token, hash: hashToken(token) };
}

/**
 * Stores that a user signed in from a browser now. The caller holds the lock of the user's row, so that a user
 * has at most `maxBrowsersPerUser`.
 */
export async function rememberBrowser(
  tx: Transaction,
  { now, ...values }: { userId: string; browserHash: string; userAgent: string | null; client: string; now: Date },
): Promise<void> {
  await browserStored(tx).execute({ ...values, now, at: now.toISOString() });
  await oldestBrowsersDeleted(tx).execute(values);
}

const browserStored = prepared((db) =>
  db
    .insert(knownBrowsers)
    .values({
      tokenHash: sql.placeholder('browserHash'),
      userId: sql.placeholder('userId'),
      signedInAt: sql.placeholder('now'),
      firstSignedInAt: sql.placeholder('now'),
      userAgent: sql.placeholder('userAgent'),
      client: sql.placeholder('client'),
      // The first browser of a user is no news.
      acknowledgedAt: sql`case when not exists (
        select from ${knownBrowsers} as others where others.user_id = ${sql.placeholder('userId')}::uuid
      ) then ${sql.placeholder('at')}::timestamptz end`,
    })
    .onConflictDoUpdate({
      target: [knownBrowsers.tokenHash, knownBrowsers.userId],
      set: { signedInAt: sql`excluded.signed_in_at` },
    })
    .prepare('browser_stored'),
);

/** Keeps the browser that signed in now, whatever the order of the times. */
const oldestBrowsersDeleted = prepared((db) => {
  const isOther = and(
    eq(knownBrowsers.userId, sql.placeholder('userId')),
    ne(knownBrowsers.tokenHash, sql.placeholder('browserHash')),
  );
  const kept = db
    .select({ tokenHash: knownBrowsers.tokenHash })
    .from(knownBrowsers)
    .where(isOther)
    .orderBy(desc(knownBrowsers.signedInAt), desc(knownBrowsers.tokenHash))
    .limit(maxBrowsersPerUser - 1);
  return db
    .delete(knownBrowsers)
    .where(and(isOther, notInArray(knownBrowsers.tokenHash, kept)))
    .prepare('browsers_oldest');
});

/**
 * Whether a user has signed in from the browser with this token before. The answer decides only
 * which limits a request counts in, never what the request may do. An unknown address takes the
 * same single query.
 */
export async function isKnownBrowser(
  app: App,
  db: Executor,
  { email, token }: { email: string; token: string | null | undefined },
): Promise<boolean> {
  if (!token) return false;
  const [known] = await db
    .select({ userId: knownBrowsers.userId })
    .from(knownBrowsers)
    .innerJoin(users, eq(users.id, knownBrowsers.userId))
    .where(and(eq(knownBrowsers.tokenHash, hashToken(token)), eq(users.email, email), notExpired(app)));
  return known !== undefined;
}

/**
 * Returns the hash of a browser's token where the user has signed in from it before, else ''. Limits of the second step
 * count apart by it.
 */
export async function knownBrowserHash(
  app: App,
  db: Executor,
  { userId, token }: { userId: string; token: string | null | undefined },
): Promise<string> {
  if (!token) return '';
  const hash = hashToken(token);
  const isTheirs = and(eq(knownBrowsers.tokenHash, hash), eq(knownBrowsers.userId, userId), notExpired(app));
  return (await db.$count(knownBrowsers, isTheirs)) > 0 ? hash : '';
}

/** For this long a browser skips the second step once its user said so. */
const trustDays = 30;

/** Whether a sign-in of the user from the browser skips the second step. */
export async function isTrustedBrowser(
  app: App,
  db: Executor,
  { userId, token }: { userId: string; token: string | null | undefined },
): Promise<boolean> {
  if (!token) return false;
  const isTheirs = and(eq(knownBrowsers.tokenHash, hashToken(token)), eq(knownBrowsers.userId, userId));
  return (await db.$count(knownBrowsers, and(isTheirs, gt(knownBrowsers.trustedUntil, app.now())))) > 0;
}

/**
 * Trusts a browser from which the user has just signed in. The browser gets a new token, which replaces the old one for
 * all its users: a copy of the old one skips nothing. Returns the new one.
 */
export async function trustBrowser(
  app: App,
  tx: Transaction,
  { userId, browserHash }: { userId: string; browserHash: string },
): Promise<string> {
  const token = newToken();
  const trustedUntil = new Date(app.now().getTime() + trustDays * dayMilliseconds);
  const hash = hashToken(token);
  await tx.update(knownBrowsers).set({ tokenHash: hash }).where(eq(knownBrowsers.tokenHash, browserHash));
  await tx
    .update(knownBrowsers)
    .set({ trustedUntil })
    .where(and(eq(knownBrowsers.tokenHash, hash), eq(knownBrowsers.userId, userId)));
  return token;
}

/** The browsers that a user has not acknowledged, except the one that asks. */
function isNews(userId: string, ownToken: string | null | undefined) {
  const isOther = ownToken ? ne(knownBrowsers.tokenHash, hashToken(ownToken)) : undefined;
  return and(eq(knownBrowsers.userId, userId), isNull(knownBrowsers.acknowledgedAt), isOther);
}

/**
 * When a user signed in first from the browser that asks; null if it is not known. It answers for the browsers that came
 * later: otherwise somebody who knows the password would answer for one new browser from another, and the owner would
 * never hear of either.
 */
async function readFirstSignIn(app: App, userId: string, ownToken: string | null | undefined): Promise<Date | null> {
  if (!ownToken) return null;
  const isOwn = and(eq(knownBrowsers.userId, userId), eq(knownBrowsers.tokenHash, hashToken(ownToken)));
  const [own] = await app.db.select({ first: knownBrowsers.firstSignedInAt }).from(knownBrowsers).where(isOwn);
  return own?.first ?? null;
}

/** Returns the sign-ins from browsers that the user had not signed in from before, newest first, until acknowledged. */
export async function readNewBrowsers(app: App, { user }: UserPrincipal, { knownBrowser }: Client) {
  const own = await readFirstSignIn(app, user.id, knownBrowser);
  const rows = await app.db
    .select({
      userAgent: knownBrowsers.userAgent,
      client: knownBrowsers.client,
      signedInAt: knownBrowsers.signedInAt,
      firstSignedInAt: knownBrowsers.firstSignedInAt,
    })
    .from(knownBrowsers)
    .where(isNews(user.id, knownBrowser))
    .orderBy(desc(knownBrowsers.signedInAt));
  return rows.map(({ userAgent, client, signedInAt, firstSignedInAt }) => {
    const acknowledgeable = own !== null && own < firstSignedInAt;
    return { user_agent: userAgent, client, signed_in_at: signedInAt.toISOString(), acknowledgeable };
  });
}

/** Stores that the user knows the browsers of `readNewBrowsers` that this one may answer for. */
export async function acknowledgeBrowsers(app: App, { user }: UserPrincipal, { knownBrowser }: Client): Promise<void> {
  const own = await readFirstSignIn(app, user.id, knownBrowser);
  if (own === null) return;
  const isLater = gt(knownBrowsers.firstSignedInAt, own);
  await app.db
    .update(knownBrowsers)
    .set({ acknowledgedAt: app.now() })
    .where(and(isNews(user.id, knownBrowser), isLater));
}

/** Ends the news of a user's browsers, once a link in a mail proved who they are and signed all of them out. */
export async function acknowledgeAllBrowsers(tx: Transaction, now: Date, userId: string): Promise<void> {
  await tx.update(knownBrowsers).set({ acknowledgedAt: now }).where(isNews(userId, null));
}

/** Deletes the rows of browsers whose cookie has expired. */
export async function deleteExpiredBrowsers(app: App): Promise<void> {
  await deleteInSteps(app.db, knownBrowsers, lte(knownBrowsers.signedInAt, oldestSignIn(app)));
}

function notExpired(app: App) {
  return gt(knownBrowsers.signedInAt, oldestSignIn(app));
}

function oldestSignIn(app: App): Date {
  return new Date(app.now().getTime() - knownBrowserDays * dayMilliseconds);
}
