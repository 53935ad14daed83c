import { asc, eq, or, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Operator } from '../../auth/principal.ts';
import { requirePayment } from '../../billing/actions/require-payment.ts';
import { livePrices } from '../../billing/prices/live-prices.ts';
import { readRow } from '../../billing/subscription/subscription-rows.ts';
import { reconcileAll } from '../../billing/sync/reconcile.ts';
import type { Report } from '../../billing/sync/report.ts';
import { syncSubscription } from '../../billing/sync/sync.ts';
import { nameColumns } from '../../organisations/account-status.ts';
import { paymentEvents, paymentSubscriptions as subscription } from '../../platform/db/schema/billing.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { AppError } from '../../platform/errors.ts';
import { message, zodMessage } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { storableText } from '../../platform/security/text.ts';
import { countRows, maxCounted } from '../queue/read-queue.ts';
import { shownSubscription, subscriptionColumns } from './shown-subscription.ts';

const maxRows = 100;

/**
 * Returns the subscription records that may differ from the provider's subscriptions: first
 * those with a problem, then those that await a sync, the longest wait first. Also counts the
 * events that an operator should look at.
 */
export async function readDrift(app: App, _operator: Operator) {
  const drifting = or(subscription.needsSync, sql`${subscription.problem} is not null`);
  const rows = await app.db
    .select({ ...subscriptionColumns, organisation: nameColumns })
    .from(subscription)
    .innerJoin(organisations, eq(organisations.id, subscription.organisationId))
    .where(drifting)
    .orderBy(sql`${subscription.problem} is null`, sql`${subscription.syncedAt} nulls first`, asc(subscription.id))
    .limit(maxRows);
  const one = { one: sql`1` };
  const counts = await countRows(app, {
    rows: app.db.select(one).from(subscription).where(drifting),
    events: app.db.select(one).from(paymentEvents).where(eq(paymentEvents.flagged, true)),
  });
  if (app.payment !== null) await livePrices(app);
  const { unsold } = app.priceCache;
  return {
    rows: rows.map(({ organisation, ...row }) => ({ ...shownSubscription(app, row), organisation })),
    count: counts?.rows ?? 0,
    flagged_events: counts?.events ?? 0,
    /** Both counts end here. */
    most: maxCounted,
    billing_enabled: app.payment !== null,
    /** The names of the plans that the provider sells for no interval. */
    unsold: app.plans.tiers
      .filter(
        ({ tier, prices }) => prices.length > 0 && prices.length === unsold.filter((each) => each.tier === tier).length,
      )
      .map(({ name }) => name),
  };
}

export const syncInput = z.object({ subscription_id: storableText(zodMessage('say_which_subscription')) });

/**
 * Syncs a subscription with the provider, and returns its record.
 *
 * @throws AppError BILLING_UNAVAILABLE; NOT_FOUND if there is no such subscription; PROVIDER_UNAVAILABLE; BUSY.
 */
export async function syncNow(
  app: App,
  principal: Operator,
  { subscription_id: id }: z.output<typeof syncInput>,
  client: Client,
) {
  const { user } = principal;
  requirePayment(app);
  const row = await readRow(app.db, id);
  if (row === null) throw new AppError('NOT_FOUND', message('no_such_subscription'));

  await syncSubscription(app, id, 'action');
  await recordAudit(app.db, app.now(), {
    action: 'subscription-synced',
    actorId: user.id,
    client,
    organisationId: row.organisationId,
    details: { subscription: id },
  });

  const synced = await readRow(app.db, id);
  return { row: synced && shownSubscription(app, synced) };
}

/**
 * Runs the reconciliation at once: applies undelivered events, and compares every subscription
 * with the provider's, a hundred per request. Returns the findings.
 *
 * @throws AppError BILLING_UNAVAILABLE; PROVIDER_UNAVAILABLE.
 */
export async function compareNow(app: App, principal: Operator, client: Client): Promise<Report> {
  const { user } = principal;

  const report = await reconcileAll(app);
  await recordAudit(app.db, app.now(), { action: 'billing-reconciled', actorId: user.id, client });
  return report;
}
