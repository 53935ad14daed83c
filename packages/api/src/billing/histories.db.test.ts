import { eq } from 'drizzle-orm';
import fc from 'fast-check';
import Stripe from 'stripe';
import { beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../app.ts';
import { readPlan } from '../organisations/plan.ts';
import { paymentEvents, paymentSubscriptions } from '../platform/db/schema/billing.ts';
import { AppError } from '../platform/errors.ts';
import { readSubscriptionState, type SubscriptionState } from '../platform/providers/payment/subscription-state.ts';
import { sandboxPayment } from '../testing/app.ts';
import { type DeliveryResult, makeMember, makeSecond, makeSubscriber, ownedBy } from '../testing/billing.ts';
import { carryOut, type ProviderAct, providerAct } from '../testing/payment/provider-acts.ts';
import { useBillingTest } from '../testing/use-billing-test.ts';
import { openPortal } from './actions/open-portal.ts';
import { setCancellation } from './actions/set-cancellation.ts';
import { startCheckout } from './actions/start-checkout.ts';
import { decidePlan } from './entitlement/decide-plan.ts';
import { receiveEvent } from './events/receive-event.ts';
import { readRows } from './subscription/subscription-rows.ts';
import { enqueueDue } from './sync/jobs.ts';
import { reconcileAll } from './sync/reconcile.ts';
import { syncSubscription } from './sync/sync.ts';
import { noSyncs } from './sync/sync-queue.ts';

const billing = useBillingTest();
const provider = () => billing.sandbox.payment;
const live = (portal: string, id: string, acts: ProviderAct[]) => carryOut(billing, portal, id, acts);

/** Starts with an empty provider, because the clock advances all its subscriptions, also those of earlier runs. */
function begin(): void {
  provider().reset();
  provider().set({ retry_first_ms: 50 });
}
beforeEach(begin);

function providerStateOf(subscriptionId: string): SubscriptionState {
  const state = readSubscriptionState(provider().state().subscriptions[subscriptionId]);
  if (state === null) throw new Error('The provider lost a subscription.');
  return state;
}

/** A row that an event overtook during its sync is synced by the job of each minute. */
async function settled(): Promise<void> {
  await billing.settled();
  await enqueueDue(billing.app);
  await billing.settled();
}

async function rowOf(id: string) {
  const [row] = await billing.app.db.select().from(paymentSubscriptions).where(eq(paymentSubscriptions.id, id));
  return row;
}

/** Expects that an organisation's plan is the one that its subscriptions decide. */
async function expectDecided(organisationId: string | null): Promise<void> {
  const { plan, rows } = await readRows(billing.app.db, { organisationId: organisationId ?? '' });
  expect(plan).toMatchObject(decidePlan(billing.app, { rows, override: null }, billing.app.now()));
}

/** The row that matches the provider's state. */
function expected(state: SubscriptionState) {
  const ended = state.status === 'canceled';
  const date = (seconds: number | null) => (ended || seconds === null ? null : new Date(seconds * 1000));
  return {
    status: state.status,
    priceId: state.items[0]?.priceId,
    amount: state.price?.amount,
    currency: state.currency,
    interval: state.price?.interval,
    cancelAtPeriodEnd: !ended && state.scheduled,
    endsAt: date(state.endsAt),
    currentPeriodEnd: date(state.currentPeriodEnd),
  };
}

/** The change of plan that a schedule makes next, which a row has only after a sync. */
function nextPhaseOf(id: string) {
  const { subscriptions, subscription_schedules } = provider().state();
  const schedule = subscription_schedules[subscriptions[id]?.schedule ?? ''];
  const end = schedule?.current_phase?.end_date;
  const next = schedule?.phases.find((phase) => end !== undefined && phase.start_date >= end);
  if (next === undefined || subscriptions[id]?.status === 'canceled') return { nextTierAt: null, nextTier: null };
  return { nextTierAt: new Date(next.start_date * 1000), nextTier: 'silver' };
}

/** Returns the App with a provider that does not answer, so that only events decide. */
function withoutProvider(): App {
  const away = () => Promise.reject(new AppError('PROVIDER_UNAVAILABLE', 'away'));
  const jobs = { ...billing.app.jobs, send: async () => {} };
  return {
    ...billing.app,
    jobs,
    syncs: noSyncs,
    payment: { mode: 'test', isRestricted: false, key: 'none', ask: away, askBriefly: away },
  };
}

async function receive(app: App, payload: string): Promise<void> {
  const timestamp = Math.floor(app.now().getTime() / 1000);
  const signature = Stripe.webhooks.generateTestHeaderString({
    payload,
    secret: sandboxPayment.webhookSecret,
    timestamp,
  });
  await receiveEvent(app, { body: Buffer.from(payload), signature });
}

describe('histories that the provider produced', () => {
  test.each([
    ['each in its second, are in the provider’s state before the sync and after it', false],
    ['all in one second, are in the provider’s state after the sync', true],
  ])('%s, in any order and with duplicates', async (_, sameSecond) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(providerAct, { maxLength: 10 }),
        fc.boolean(),
        fc.infiniteStream(fc.nat()),
        async (acts, old, random) => {
          begin();
          const { principal, subscription } = await makeSubscriber(billing);
          const portal = (await openPortal(billing.app, principal, {})).url;
          await billing.settled();
          // From here on the service knows only the events that are delivered below.
          await billing.app.db.delete(paymentSubscriptions).where(eq(paymentSubscriptions.id, subscription.id));
          await billing.app.db.delete(paymentEvents).where(eq(paymentEvents.subscriptionId, subscription.id));
          provider().set({ drop_deliveries: true, same_second: sameSecond, old_payload_shape: old });
          await live(portal, subscription.id, acts);
          provider().resetSwitches();

          const events = provider()
            .events()
            .filter(({ data }) => (data.object as { id?: string }).id === subscription.id)
            .map((event, place) => (sameSecond ? event : { ...event, created: event.created + place }));
          const arriving = [...events, ...events.filter((_, at) => at % 3 === 0)]
            .map((event) => ({ event, place: random.next().value }))
            .sort((one, other) => one.place - other.place);
          for (const { event } of arriving) await receive(withoutProvider(), JSON.stringify(event));

          const state = expected(providerStateOf(subscription.id));
          if (!sameSecond || state.status === 'canceled') expect(await rowOf(subscription.id)).toMatchObject(state);
          expect(await rowOf(subscription.id)).toMatchObject({ needsSync: true });

          await syncSubscription(billing.app, subscription.id);
          expect(await rowOf(subscription.id)).toMatchObject({
            ...state,
            ...nextPhaseOf(subscription.id),
            needsSync: false,
          });
          await expectDecided(principal.organisationId);
        },
      ),
      // Each run takes a second: newer-state.db.test.ts proves the rule itself on thousands of histories.
      { numRuns: 9 },
    );
  });

  test('interleaved with cancel and resume, while deliveries are duplicated, reordered and late, end in the provider’s state', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(providerAct, fc.constantFrom('our cancel', 'our resume')), { maxLength: 8 }),
        async (acts) => {
          begin();
          const { principal, subscription } = await makeSubscriber(billing);
          const portal = (await openPortal(billing.app, principal, {})).url;
          provider().set({
            duplicate_deliveries: true,
            duplicate_events: true,
            reorder_deliveries: true,
            delivery_delay_ms: 20,
          });
          for (const each of acts) {
            if (each === 'our cancel' || each === 'our resume') {
              await setCancellation(billing.app, principal, { cancel: each === 'our cancel' }).catch(() => {});
            } else await live(portal, subscription.id, [each as ProviderAct]);
          }
          await settled();
          provider().resetSwitches();
          expect(await rowOf(subscription.id)).toMatchObject({
            ...expected(providerStateOf(subscription.id)),
            ...nextPhaseOf(subscription.id),
            needsSync: false,
          });
          await expectDecided(principal.organisationId);
        },
      ),
      { numRuns: 6 },
    );
  });

  test('of two subscriptions of one organisation, with deliveries lost and retried, never mix and end in the provider’s state', async () => {
    const deliveryResult = fc.constantFrom<DeliveryResult>('answered', 'refused', 'done without an answer');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(0, 1), providerAct), { maxLength: 10 }),
        fc.infiniteStream(deliveryResult),
        async (acts, results) => {
          begin();
          const { principal, subscription } = await makeSubscriber(billing, 'silver');
          const both = [subscription.id, (await makeSecond(billing, subscription.customer, 'gold')).id];
          const portal = (await openPortal(billing.app, principal, {})).url;
          billing.deliveriesAre(() => results.next().value);
          provider().set({
            reorder_deliveries: true,
            delivery_delay_ms: 20,
            retry_first_ms: 30,
            retry_longest_ms: 200,
          });
          for (const [which, each] of acts) await live(portal, both[which] ?? '', [each]);
          await billing.settled();
          billing.deliveriesAre(() => 'answered');
          await settled();
          provider().resetSwitches();

          for (const id of both) {
            expect(await rowOf(id)).toMatchObject({ ...expected(providerStateOf(id)), needsSync: false });
          }
          await expectDecided(principal.organisationId);
        },
      ),
      { numRuns: 6 },
    );
  });

  test('with every delivery dropped are repaired by reconciliation', async () => {
    const principal = await makeMember(billing);
    provider().set({ drop_deliveries: true });
    provider().payCheckout((await startCheckout(billing.app, principal, { tier: 'silver' })).url);
    const [subscription] = ownedBy(billing, principal).subscriptions;
    await live((await openPortal(billing.app, principal, {})).url, subscription?.id ?? '', ['gold', 'cancel']);
    await reconcileAll(billing.app);
    expect(await rowOf(subscription?.id ?? '')).toMatchObject(expected(providerStateOf(subscription?.id ?? '')));
    expect((await readPlan(billing.app, principal.organisationId)).tier).toBe('gold');
  });
});
