import { and, desc, eq, gt, isNull, lte, ne, notInArray, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { type Executor, prepared, type Transaction } from '../../platform/db/client.ts';
import { deleteInSteps } from '../../platform/db/delete-in-steps.ts';
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

/** The browsers that a user has not acknowledged, except the one that asks: it cannot answer for itself. */
function isNews(userId: string, ownToken: string | null | undefined) {
  const isOther = ownToken ? ne(knownBrowsers.tokenHash, hashToken(ownToken)) : undefined;
  return and(eq(knownBrowsers.userId, userId), isNull(knownBrowsers.acknowledgedAt), isOther);
}

/** Returns the sign-ins from browsers that the user had not signed in from before, newest first, until acknowledged. */
export async function readNewBrowsers(app: App, { user }: UserPrincipal, { knownBrowser }: Client) {
  const rows = await app.db
    .select({
      userAgent: knownBrowsers.userAgent,
      client: knownBrowsers.client,
      signedInAt: knownBrowsers.signedInAt,
    })
    .from(knownBrowsers)
    .where(isNews(user.id, knownBrowser))
    .orderBy(desc(knownBrowsers.signedInAt));
  return rows.map(({ userAgent, client, signedInAt }) => {
    return { user_agent: userAgent, client, signed_in_at: signedInAt.toISOString() };
  });
}

/** Stores that the user knows the browsers of `readNewBrowsers`. */
export async function acknowledgeBrowsers(app: App, { user }: UserPrincipal, { knownBrowser }: Client): Promise<void> {
  await app.db.update(knownBrowsers).set({ acknowledgedAt: app.now() }).where(isNews(user.id, knownBrowser));
}

/** Returns the times of the last sign-in from each of a user's known browsers, newest first. */
export function listKnownBrowsers(app: App, userId: string) {
  return app.db
    .select({ signedInAt: knownBrowsers.signedInAt })
    .from(knownBrowsers)
    .where(eq(knownBrowsers.userId, userId))
    .orderBy(desc(knownBrowsers.signedInAt));
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
