import { and, eq, gt, inArray, isNotNull, isNull, lt, lte, notInArray, or } from 'drizzle-orm';
import type { App } from '../app.ts';
import { deleteOldEntries } from '../audit/record.ts';
import { deleteWithoutMembers } from '../organisations/organisation.ts';
import type { Transaction } from '../platform/db/client.ts';
import { deleteInSteps } from '../platform/db/in-steps.ts';
import { addressChanges, oneTimeTokens, signUps, users, verificationLinks } from '../platform/db/schema/accounts.ts';
import { rateLimits } from '../platform/db/schema/deployment.ts';
import { stepAttempts, usedChallenges, wrongCodes } from '../platform/db/schema/factors.ts';
import { invitations, memberships } from '../platform/db/schema/members.ts';
import { sessions } from '../platform/db/schema/sessions.ts';
import { returnUrls, signInAttempts } from '../platform/db/schema/sign-in.ts';
import { dayMilliseconds } from '../platform/durations.ts';
import { runSteps } from '../platform/jobs/run-steps.ts';
import { dropUnusedImports } from './password/imported-passwords.ts';
import { deleteExpiredBrowsers } from './sessions/known-browser.ts';

const unverifiedDays = 7;
const batchSize = 200;

/**
 * Deletes what has expired: accounts not verified within seven days, with their organisations, but for those that an
 * import or an API key made; used
 * sign-ups and used or expired links after a day; expired sessions, attempts, return URLs
 * and audit entries; passwords of an import that nobody used; and known browsers without a sign-in for 400 days.
 *
 * @throws Error if a step failed, after all others were done.
 */
export async function deleteExpired(app: App): Promise<void> {
  const now = app.now();
  const yesterday = new Date(now.getTime() - dayMilliseconds);
  const isOver = or(lt(verificationLinks.usedAt, yesterday), lt(verificationLinks.expiresAt, yesterday));

  await runSteps(app.log, {
    'unverified accounts': () => deleteUnverified(app, now),
    'verification links': () => deleteInSteps(app.db, verificationLinks, isOver),
    'sign-ups': () => deleteSignUps(app, yesterday),
    invitations: () => deleteInSteps(app.db, invitations, lt(invitations.expiresAt, yesterday)),
    'one-time tokens': () => deleteInSteps(app.db, oneTimeTokens, lt(oneTimeTokens.expiresAt, yesterday)),
    'changes of address': () => deleteInSteps(app.db, addressChanges, lt(addressChanges.expiresAt, yesterday)),
    'sign-in attempts': () => deleteInSteps(app.db, signInAttempts, lt(signInAttempts.expiresAt, now)),
    'second-factor attempts': () => deleteInSteps(app.db, stepAttempts, lt(stepAttempts.expiresAt, now)),
    'used challenges': () => deleteInSteps(app.db, usedChallenges, lt(usedChallenges.expiresAt, now)),
    'wrong codes': () => deleteInSteps(app.db, wrongCodes, lt(wrongCodes.at, yesterday)),
    'rate limits': () => deleteInSteps(app.db, rateLimits, lt(rateLimits.expire, now.getTime())),
    'return URLs': () => deleteInSteps(app.db, returnUrls, lt(returnUrls.expiresAt, now)),
    'imported passwords': () => dropUnusedImports(app),
    'audit entries': () => deleteOldEntries(app.db, now, app.config.retentionDays),
    sessions: () => deleteInSteps(app.db, sessions, lte(sessions.expiresAt, now)),
    'known browsers': () => deleteExpiredBrowsers(app),
  });
}

/** Deletes accounts that were not verified in time, a batch in each transaction, in the order of their ids. */
async function deleteUnverified(app: App, now: Date): Promise<void> {
  for (let last: string | null = null; ; ) {
    const next = await app.db.transaction((tx) => deleteUnverifiedAfter(tx, last, now));
    if (next === null) return;
    last = next;
  }
}

/**
 * Deletes accounts of one batch with their organisations. The rows are locked before they are checked, so
 * that a concurrent sign-up with the address, or an opened link, is taken into account. Returns the last id
 * of the batch; null after the last batch.
 */
async function deleteUnverifiedAfter(tx: Transaction, last: string | null, now: Date): Promise<string | null> {
  const isUnverified = and(
    isNull(users.emailVerifiedAt),
    eq(users.provisioned, false),
    lt(users.createdAt, new Date(now.getTime() - unverifiedDays * dayMilliseconds)),
    last === null ? undefined : gt(users.id, last),
  );
  const batch = tx.select({ id: users.id }).from(users).where(isUnverified).orderBy(users.id).limit(batchSize);
  const old = await batch.for('update');
  const ids = old.map(({ id }) => id);
  const owned = await tx.select().from(memberships).where(inArray(memberships.userId, ids));

  const deleted = await tx
    .delete(users)
    .where(
      and(
        inArray(users.id, ids),
        // A user who signs up again on the last day still has an hour to open the link, once it is mailed.
        notInArray(users.id, usersWithValidLinks(tx, now)),
        notInArray(users.id, signedUpSince(tx, new Date(now.getTime() - dayMilliseconds))),
      ),
    )
    .returning({ id: users.id });
  const deletedIds = new Set(deleted.map(({ id }) => id));
  const organisationIds = owned.filter(({ userId }) => deletedIds.has(userId)).map((each) => each.organisationId);
  if (organisationIds.length > 0) await deleteWithoutMembers(tx, organisationIds);
  return ids.length < batchSize ? null : (ids.at(-1) ?? null);
}

function usersWithValidLinks(tx: Transaction, now: Date) {
  return tx
    .select({ id: verificationLinks.userId })
    .from(verificationLinks)
    .where(and(gt(verificationLinks.expiresAt, now), isNull(verificationLinks.usedAt)));
}

/** The mail of a recent sign-up may still be queued, because the mail server is unavailable. */
function signedUpSince(tx: Transaction, since: Date) {
  return tx.select({ id: signUps.userId }).from(signUps).where(gt(signUps.createdAt, since));
}

/**
 * Deletes used sign-ups, and sign-ups for a confirmed address once all their links have expired:
 * until then the browser that signed up may use what was typed.
 */
async function deleteSignUps(app: App, before: Date): Promise<void> {
  const verified = app.db.select({ id: users.id }).from(users).where(isNotNull(users.emailVerifiedAt));
  const linked = app.db
    .select({ id: verificationLinks.signUpId })
    .from(verificationLinks)
    .where(and(isNotNull(verificationLinks.signUpId), gt(verificationLinks.expiresAt, app.now())));
  const isOver = and(lt(signUps.createdAt, before), inArray(signUps.userId, verified), notInArray(signUps.id, linked));
  await deleteInSteps(app.db, signUps, or(lt(signUps.usedAt, before), isOver));
}
