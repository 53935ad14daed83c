import { and, eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import type { App } from '../../app.ts';
import { readPlan } from '../../organisations/plan.ts';
import { paymentLeases, paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { changes } from '../../platform/db/schema/changes.ts';
import { daySeconds } from '../../platform/durations.ts';
import type { Ask } from '../../platform/providers/payment/connection.ts';
import { makeSubscriber } from '../../testing/billing.ts';
import { deliver, makeEvent } from '../../testing/payment/payment-events.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { requirePayment } from '../actions/require-payment.ts';
import { setCancellation } from '../actions/set-cancellation.ts';
import { leaseOf } from '../customers/customer.ts';
import { withLease } from '../customers/lease.ts';
import { endUnknown, syncCustomer, syncSubscription } from './sync.ts';
import { noSyncs } from './sync-queue.ts';

const billing = useBillingTest();

/** The App with a provider whose first answer exists when `asked` resolves and is returned at `release`. */
function withHeldAnswer() {
  const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const payment = requirePayment(billing.app);
  const ask: Ask = async (question) => {
    const answer = await payment.ask(question).then(
      (value) => () => value,
      (error: unknown) => () => {
        throw error;
      },
    );
    isAsked();
    await released;
    return answer();
  };
  const app: App = { ...billing.app, payment: { ...payment, ask } };
  return { app, asked, release };
}

async function loseLease(organisationId: string): Promise<void> {
  await billing.app.db
    .update(paymentLeases)
    .set({ endsAt: new Date(Date.now() - 60_000) })
    .where(eq(paymentLeases.name, leaseOf(organisationId)));
}

type Row = typeof paymentSubscriptions.$inferSelect;

type Subscription = Awaited<ReturnType<typeof makeSubscriber>>['subscription'];

async function row(id: string): Promise<Row> {
  const [found] = await billing.app.db.select().from(paymentSubscriptions).where(eq(paymentSubscriptions.id, id));
  if (found === undefined) throw new Error(`There is no row ${id}.`);
  return found;
}

test.each<[string, (app: App, row: Row) => Promise<unknown>]>([
  ['of a subscription', (app, { id }) => syncSubscription(app, id)],
  [
    'of a customer',
    (app, { organisationId, customerId }) =>
      withLease(app, leaseOf(organisationId), (ask) => syncCustomer(app, ask, { organisationId, customerId })),
  ],
])('the answer %s that arrives after its lease was lost is dropped for a newer one', async (_, fetch) => {
  const { principal, subscription } = await makeSubscriber(billing);
  billing.sandbox.payment.set({ drop_deliveries: true });
  const { app, asked, release } = withHeldAnswer();

  const late = fetch(app, await row(subscription.id));
  await asked;
  await loseLease(principal.organisationId);
  await setCancellation(billing.app, principal, { cancel: true });
  expect(await row(subscription.id)).toMatchObject({ cancelAtPeriodEnd: true });
  release();
  await late;

  expect(await row(subscription.id)).toMatchObject({ cancelAtPeriodEnd: true, needsSync: false });
});

test('the answer that the provider does not know the subscription is dropped after its lease was lost', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  const { subscriptions } = billing.sandbox.payment.state();
  const { app, asked, release } = withHeldAnswer();

  delete subscriptions[subscription.id];
  const late = syncSubscription(app, subscription.id);
  await asked;
  subscriptions[subscription.id] = subscription;
  await loseLease(principal.organisationId);
  await syncSubscription(billing.app, subscription.id);
  release();
  await late;

  expect(await row(subscription.id)).toMatchObject({ problem: null, needsSync: false });
});

test.each<[string, (id: string) => void]>([
  ['of a deleted subscription', (id) => void delete billing.sandbox.payment.state().subscriptions[id]],
  [
    'that names another customer',
    (id) => {
      const subscription = billing.sandbox.payment.state().subscriptions[id];
      if (subscription !== undefined) subscription.customer = 'cus_other';
    },
  ],
])('an answer %s that an event overtook is not stored, and the row stays marked', async (_, spoil) => {
  const { subscription } = await makeSubscriber(billing);
  spoil(subscription.id);
  const { app, asked, release } = withHeldAnswer();
  const syncing = syncSubscription(app, subscription.id);
  await asked;
  const { version } = await row(subscription.id);
  const mark = { needsSync: true, version: version + 1 };
  await billing.app.db.update(paymentSubscriptions).set(mark).where(eq(paymentSubscriptions.id, subscription.id));
  release();
  await syncing;
  expect(await row(subscription.id)).toMatchObject({ needsSync: true, problem: null, version: version + 1 });
});

test.each([
  ['the deletion of the customer', 'customer.deleted', ({ customer }) => ({ id: customer, object: 'customer' })],
  ['an event that changes nothing, because it is old', 'customer.subscription.updated', (subscription) => subscription],
  ['an invoice', 'invoice.paid', ({ id, customer }) => ({ id: 'in_1', customer, subscription: id })],
] satisfies [string, string, (subscription: Subscription) => object][])(
  'an answer to an earlier request does not remove the mark of %s',
  async (_, type, objectOf) => {
    const { subscription } = await makeSubscriber(billing);
    const { app, asked, release } = withHeldAnswer();
    const syncing = syncSubscription(app, subscription.id);
    await asked;
    // This process has no queue, so that nothing but the request above asks the provider.
    const idle = {
      ...billing.app,
      syncs: noSyncs,
      jobs: { ...billing.app.jobs, send: async () => {}, wake: () => {} },
    };
    await deliver(idle, makeEvent(idle, type, objectOf(subscription), { created: 1000 }));
    release();
    await syncing;
    expect((await row(subscription.id)).needsSync).toBe(true);
  },
);

test('a plan that ends without an event or an answer adds a change to the feed', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  const { organisationId } = principal;
  const planChanges = () =>
    billing.app.db
      .select({ data: changes.data })
      .from(changes)
      .where(and(eq(changes.organisationId, organisationId), eq(changes.type, 'plan.changed')))
      .orderBy(changes.id);
  await billing.app.db.transaction((tx) => endUnknown(billing.app, tx, organisationId, [subscription.id]));
  expect((await planChanges()).at(-1)?.data).toMatchObject({ tier: 'free' });
});

test('the plan holds the paid period as the provider’s item has it', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  const { current_period_start: start = 0, current_period_end: end = 0 } = subscription.items.data[0] ?? {};
  expect((await readPlan(billing.app, principal.organisationId)).subscription).toMatchObject({
    currentPeriodStart: new Date(start * 1000),
    currentPeriodEnd: new Date(end * 1000),
  });
});

test('the grace counts from the first past-due answer if the event of the failure was lost, until a recovery', async () => {
  const { subscription } = await makeSubscriber(billing);
  const app = { ...billing.app, syncs: noSyncs };
  billing.sandbox.payment.set({ drop_deliveries: true });
  billing.sandbox.payment.forceStatus(subscription.id, 'past_due');
  await syncSubscription(app, subscription.id);
  const { pastDueSince } = await row(subscription.id);
  expect(pastDueSince).not.toBeNull();

  const createdAfter = (days: number) => Math.floor(app.now().getTime() / 1000) + days * daySeconds;
  const tell = (status: string, created: number) =>
    deliver(app, makeEvent(app, 'customer.subscription.updated', { ...subscription, status }, { created }));
  await tell('past_due', createdAfter(3));
  expect(await row(subscription.id)).toMatchObject({ status: 'past_due', pastDueSince });
  await syncSubscription(app, subscription.id);
  await tell('past_due', createdAfter(4));
  expect(await row(subscription.id)).toMatchObject({ status: 'past_due', pastDueSince });

  const failedAgain = createdAfter(6);
  await tell('active', createdAfter(5));
  await tell('past_due', failedAgain);
  expect(await row(subscription.id)).toMatchObject({ pastDueSince: new Date(failedAgain * 1000) });
});
