import { and, eq, gt, gte, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { paymentEvents, paymentSubscriptions as subscription } from '../../platform/db/schema/billing.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import type { VerifiedOwner } from './verified-owner.ts';

const weekMilliseconds = 7 * dayMilliseconds;

/** Counting ends here, so that a page costs the same however many rows there are. A page says "1,000+". */
export const maxCounted = 1000;

type Conditions = { isWaiting: SQL | undefined; firstOwner: VerifiedOwner; withoutOrganisation: SQL | undefined };

/**
 * Counts the requests that wait, those approved within a week, the organisations with an active
 * subscription (null without billing), and the events and subscriptions that need attention. Each
 * count ends at `maxCounted`.
 */
export async function readCounts(app: App, { isWaiting, firstOwner, withoutOrganisation }: Conditions) {
  const now = app.now();
  const since = new Date(now.getTime() - weekMilliseconds);
  const one = { one: sql`1` };
  const pays = and(eq(subscription.status, 'active'), or(isNull(subscription.endsAt), gt(subscription.endsAt, now)));

  const counted = {
    open: app.db
      .select(one)
      .from(organisations)
      .innerJoinLateral(firstOwner, sql`true`)
      .where(isWaiting)
      .limit(maxCounted),
    alone: app.db.select(one).from(users).where(withoutOrganisation).limit(maxCounted),
    approved: app.db.select(one).from(organisations).where(gte(organisations.approvedAt, since)).limit(maxCounted),
    paying: app.db.selectDistinct({ id: subscription.organisationId }).from(subscription).where(pays).limit(maxCounted),
    flagged: app.db.select(one).from(paymentEvents).where(eq(paymentEvents.flagged, true)).limit(maxCounted),
    problems: app.db.select(one).from(subscription).where(isNotNull(subscription.problem)).limit(maxCounted),
  };
  const columns = Object.entries(counted).map(
    ([name, rows]) => sql`(select count(*)::int from ${rows} as counted) as ${sql.identifier(name)}`,
  );
  const [row] = await app.db.execute<Record<keyof typeof counted, number>>(sql`select ${sql.join(columns, sql`, `)}`);

  return {
    waiting: cappedSum(row?.open, row?.alone),
    approved_this_week: cappedSum(row?.approved),
    paying: app.payment === null ? null : cappedSum(row?.paying),
    needs_attention: cappedSum(row?.flagged, row?.problems),
    most: maxCounted,
  };
}

function cappedSum(...counts: (number | undefined)[]): number {
  return Math.min(
    maxCounted,
    counts.reduce<number>((sum, count) => sum + (count ?? 0), 0),
  );
}
