import { and, eq, gt, isNotNull, lt, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { hasFactor } from '../../auth/factors/has-factor.ts';
import { isUnclaimed } from '../../auth/sessions/account.ts';
import type { Executor } from '../../platform/db/client.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { eraseUser } from './erase-user.ts';

const unclaimedDays = 7;
const batchSize = 100;

/**
 * Erases accounts, older than seven days, that a link verified which nobody followed up with a password or a subject: a
 * mail scanner opened it. Their organisations go too, so that names and slugs are free again. An account that others
 * count on stays, and one that its user can still follow up at this moment. Accounts that were never verified are
 * deleted by `deleteExpired`: nobody else was told about them, while other services know of these.
 */
export async function eraseUnclaimed(app: App): Promise<void> {
  for (let last: string | null = null; ; ) {
    const batch = await unclaimedAfter(app, last);
    for (const { id } of batch) await eraseOne(app, id);
    if (batch.length < batchSize) return;
    last = batch.at(-1)?.id ?? null;
  }
}

/** Returns one batch of the accounts to erase, in the order of their ids. */
export function unclaimedAfter(app: App, last: string | null) {
  return app.db
    .select({ id: users.id })
    .from(users)
    .where(and(isToErase(app), last === null ? undefined : gt(users.id, last)))
    .orderBy(users.id)
    .limit(batchSize);
}

async function eraseOne(app: App, userId: string): Promise<void> {
  // `eraseUser` calls it under the locks: meanwhile the user may have set a password, connected a subject or signed up.
  const isStillWanted = async (db: Executor) => (await db.$count(users, and(eq(users.id, userId), isToErase(app)))) > 0;
  try {
    await eraseUser(app, { userId }, { actorId: null, isStillWanted });
  } catch (error) {
    app.log.warn('An account that nobody followed up could not be erased.', { userId, error });
  }
}

function isToErase(app: App) {
  const now = app.now();
  const before = (days: number) => new Date(now.getTime() - days * dayMilliseconds);
  return and(
    isUnclaimed,
    isNotNull(users.emailVerifiedAt),
    lt(users.createdAt, before(unclaimedDays)),
    sql`not ${othersCountOn}`,
    // The page of a link has its forms as long as the link would have worked, used or not.
    sql`not exists (select from verification_links as link
      where link.user_id = users.id and link.expires_at > ${now.toISOString()})`,
    sql`not exists (select from one_time_tokens as token
      where token.user_id = users.id and token.expires_at > ${now.toISOString()})`,
    // The mail of a recent sign-up may still be queued, because the mail server is unavailable.
    sql`not exists (select from sign_ups as typed
      where typed.user_id = users.id and typed.created_at > ${before(1).toISOString()})`,
  );
}

/**
 * Whether an account is more than what its sign-up made. Operators have marked or closed it, and their decision must last;
 * or it belongs to an organisation of other people, of the company's own making, that has a key or an agreed plan, or that
 * the payment provider knows.
 */
const othersCountOn = sql`(users.operator or users.suspended_at is not null or ${hasFactor} or exists (
  select from memberships as own join organisations on organisations.id = own.organisation_id
  where own.user_id = users.id and (
    own.role <> 'owner' or organisations.provisioned
    or organisations.approval = 'declined' or organisations.suspended_at is not null
    or exists (select from memberships as other where other.organisation_id = own.organisation_id and other.user_id <> users.id)
    or exists (select from plan_overrides as agreed where agreed.organisation_id = own.organisation_id)
    or exists (select from api_keys as made where made.organisation_id = own.organisation_id)
    or exists (select from payment_customers as known where known.organisation_id = own.organisation_id)
    or exists (select from payment_subscriptions as known where known.organisation_id = own.organisation_id))))`;
