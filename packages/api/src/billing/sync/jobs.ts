import { and, eq, isNull, ne, or, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { paymentSubscriptions as subscription } from '../../platform/db/schema/billing.ts';
import { daySeconds, hourSeconds } from '../../platform/durations.ts';
import type { JobData, JobKinds, JobName } from '../../platform/jobs/registry.ts';
import { runSteps } from '../../platform/jobs/run-steps.ts';
import { closeCheckoutsIfPaid } from '../actions/checkouts.ts';
import { useNewCard } from '../actions/use-new-card.ts';
import { dueContacts, syncContact } from '../customers/contact.ts';
import { decideAllPlans, decideDuePlans, digestOfRules } from '../entitlement/decide-plan.ts';
import { applyMissed, applyUndelivered } from '../events/apply-undelivered.ts';
import { deleteOldEvents, dropOldPayloads } from '../events/delete-old-events.ts';
import { findOwner } from '../events/find-owner.ts';
import { refreshPrices } from '../prices/live-prices.ts';
import { updatePortal } from '../prices/portal-configuration.ts';
import { markedForSync } from '../subscription/newer-state.ts';
import { compareAll } from './reconcile.ts';
import { logReport } from './report.ts';
import { syncSubscription } from './sync.ts';

/**
 * The background jobs of billing. A node without the provider's key leaves jobs that need the
 * provider to other nodes. Of each key at most one job runs and one waits, so a burst of events
 * about a subscription causes one sync, and events during that sync cause one more.
 */
export function billingJobs({
  app,
  scheduled,
}: {
  app: App;
  scheduled: App;
}): Pick<JobKinds, Extract<JobName, `payment-${string}`>> {
  const noRetry = { forSeconds: 0, longestPauseSeconds: 0 };
  const untilNextPrices = { forSeconds: hourSeconds, longestPauseSeconds: 300 };
  // A node without the provider's key would complete another node's jobs without doing them.
  const isHandledHere = app.payment !== null;

  /** While the nodes are replaced one by one, an old one leaves the plans of a new one to it. */
  async function decidePlans({ rules }: JobData['payment-plans']) {
    if (rules !== digestOfRules(scheduled)) throw new Error('Left to a node with the new settings.');
    await decideAllPlans(scheduled);
  }

  return {
    'payment-plan-times': {
      handler: () => decideDuePlans(scheduled),
      schedule: '* * * * *',
      policy: 'stately',
      retry: noRetry,
      recordsSuccess: true,
    },
    'payment-plans': {
      handler: decidePlans,
      policy: 'stately',
      retry: { forSeconds: 600, longestPauseSeconds: 300 },
    },
    'payment-sync': {
      handler: (data: { subscriptionId: string }) => syncDue(app, data.subscriptionId),
      policy: 'stately',
      retry: { forSeconds: 60, longestPauseSeconds: 60 },
      isHandledHere,
      concurrency: 4,
    },
    'payment-contact': {
      handler: (data: { organisationId: string }) => syncContact(app, data.organisationId),
      policy: 'stately',
      retry: { forSeconds: 60, longestPauseSeconds: 60 },
      isHandledHere,
    },
    // Each has a key of its own, because each names a method; the lease keeps them apart.
    'payment-card': {
      handler: (data: JobData['payment-card']) => useNewCard(app, data),
      policy: 'stately',
      retry: { forSeconds: hourSeconds, longestPauseSeconds: 300 },
      isHandledHere,
    },
    // A checkout stays payable for a day.
    'payment-checkouts': {
      handler: (data: { organisationId: string }) => closeCheckoutsIfPaid(app, data.organisationId),
      policy: 'stately',
      retry: { forSeconds: daySeconds, longestPauseSeconds: 300 },
      isHandledHere,
    },
    // Until this job succeeds, the portal offers the old prices.
    'payment-prices': {
      handler: async () => {
        await refreshPrices(app);
        await markUnremembered(app);
      },
      policy: 'stately',
      retry: untilNextPrices,
      isHandledHere,
    },
    'payment-portal': {
      handler: async () => void (await updatePortal(app)),
      policy: 'stately',
      retry: untilNextPrices,
      isHandledHere,
    },
    'payment-owner': {
      handler: (data: { eventId: string }) => findOwner(app, data.eventId),
      policy: 'stately',
      retry: { forSeconds: daySeconds, longestPauseSeconds: 3600 },
      isHandledHere,
    },
    'payment-due': {
      handler: async () => void (await enqueueDue(scheduled)),
      policy: 'stately',
      schedule: '* * * * *',
      retry: noRetry,
      isHandledHere,
      recordsSuccess: true,
    },
    'payment-undelivered': {
      async handler() {
        await applyUndelivered(scheduled);
        const { applied, wasSilent } = await applyMissed(scheduled);
        if (!wasSilent) return;
        const report = await compareAll(scheduled);
        // Every quarter of an hour of a quiet night, so only what the silence has hidden is worth a line.
        if (applied > 0 || report.repaired.length > 0) logReport(scheduled, report);
      },
      policy: 'stately',
      schedule: '*/15 * * * *',
      recordsSuccess: true,
      retry: { forSeconds: 2, longestPauseSeconds: 60 },
      isHandledHere,
    },
    'payment-compare': {
      handler: async () => logReport(scheduled, await compareAll(scheduled)),
      policy: 'stately',
      schedule: '23 3 * * *',
      recordsSuccess: true,
      retry: { forSeconds: 600, longestPauseSeconds: 300 },
      isHandledHere,
    },
    'payment-sweep': {
      handler: () =>
        runSteps(scheduled.log, {
          'old events': () => deleteOldEvents(scheduled),
          'old payloads': () => dropOldPayloads(scheduled),
        }),
      policy: 'stately',
      schedule: '41 2 * * *',
      recordsSuccess: true,
      retry: { forSeconds: 600, longestPauseSeconds: 300 },
    },
  };
}

/** Returns how this process syncs a subscription after an event. A sync that fails becomes a job with retries. */
export function syncsOf(app: App) {
  return {
    sync: (subscriptionId: string) => syncSubscription(app, subscriptionId),
    retry(subscriptionId: string) {
      const options = { key: subscriptionId, afterSeconds: app.config.timeouts.jobRetrySeconds };
      return app.db.transaction((tx) => app.jobs.send(tx, 'payment-sync', { subscriptionId }, options));
    },
  };
}

/** Syncs a subscription, unless another sync has settled its row while the job waited. */
async function syncDue(app: App, id: string): Promise<void> {
  if ((await app.db.$count(subscription, and(eq(subscription.id, id), isDue(app)))) === 0) return;
  await app.syncs.turn();
  await syncSubscription(app, id);
}

const batchSize = 500;

/**
 * Enqueues a sync of every row that needs one: rows marked so, rows whose scheduled
 * cancellation has come, and rows whose paid period ended more than three days ago (a paused one gets no other). Rows that
 * are due by time alone are synced at most every 15 minutes. Also enqueues the billing e-mail addresses
 * that the provider has not got yet. Returns how many syncs of subscriptions it enqueued.
 */
export async function enqueueDue(app: App): Promise<number> {
  const count = await app.db.transaction(async (tx) => {
    const rows = await tx
      .select({ id: subscription.id })
      .from(subscription)
      .where(isDue(app))
      .orderBy(sql`${subscription.syncedAt} nulls first`)
      .limit(batchSize);
    for (const { id } of rows) await app.jobs.send(tx, 'payment-sync', { subscriptionId: id }, { key: id });
    return rows.length;
  });

  if (count > 0) app.jobs.wake('payment-sync');
  await enqueueContacts(app);
  return count;
}

function isDue(app: App) {
  const now = sql`${app.now().toISOString()}::timestamptz`;
  return and(
    sql`(${subscription.needsSync} or (not ${subscription.ended} and (
      (${subscription.endsAt} <= ${now} and (${subscription.syncedAt} is null
        or ${subscription.syncedAt} < greatest(${subscription.endsAt}, ${now} - interval '15 minutes')))
      or (${subscription.status} <> 'paused' and ${subscription.currentPeriodEnd} < ${now} - interval '3 days'
        and (${subscription.syncedAt} is null or ${subscription.syncedAt} < ${now} - interval '15 minutes'))
    )))`,
  );
}

async function enqueueContacts(app: App): Promise<void> {
  const due = await dueContacts(app);
  if (due.length === 0) return;
  await app.db.transaction(async (tx) => {
    for (const { organisationId } of due)
      await app.jobs.send(tx, 'payment-contact', { organisationId }, { key: organisationId });
  });
  app.jobs.wake('payment-contact');
}

/**
 * Marks the live subscriptions whose tier does not come from a remembered price: a price that changed may map them anew,
 * as by other metadata. The next round asks about them. One statement each, so that no two rows are locked at once.
 */
async function markUnremembered(app: App): Promise<void> {
  const isUnremembered = or(isNull(subscription.tierSource), ne(subscription.tierSource, 'price'));
  const rows = await app.db
    .select({ id: subscription.id })
    .from(subscription)
    .where(and(eq(subscription.ended, false), isUnremembered));
  for (const { id } of rows) {
    await app.db
      .update(subscription)
      .set(markedForSync)
      .where(and(eq(subscription.id, id), eq(subscription.ended, false)));
  }
}
