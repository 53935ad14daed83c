import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import type { App } from '../../app.ts';
import { paymentLeases, paymentSubscriptions } from '../../db/schema/billing.ts';
import type { Ask } from '../../providers/payment.ts';
import { makeSubscriber } from '../../testing/billing.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { requirePayment } from '../actions/require-payment.ts';
import { setCancellation } from '../actions/set-cancellation.ts';
import { leaseOf } from '../customers/customer.ts';
import { withLease } from '../customers/lease.ts';
import { syncCustomer, syncSubscription } from './sync.ts';

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
      withLease(app, leaseOf(organisationId), (ask, holder) =>
        syncCustomer(app, ask, { organisationId, customerId, holder }),
      ),
  ],
])('the answer %s that arrives after its lease was lost is dropped for a newer one', async (_, fetch) => {
  const { principal, subscription } = await makeSubscriber(billing);
  billing.sandbox.payment.set({ drop_deliveries: true });
  const { app, asked, release } = withHeldAnswer();

  const late = fetch(app, await row(subscription.id));
  await asked;
  await loseLease(principal.organisationId);
  await setCancellation(billing.app, principal, { wanted: true });
  expect(await row(subscription.id)).toMatchObject({ cancelAtPeriodEnd: true });
  release();
  await late;

  expect(await row(subscription.id)).toMatchObject({ cancelAtPeriodEnd: true, needsSync: true });
  await syncSubscription(billing.app, subscription.id);
  expect(await row(subscription.id)).toMatchObject({ cancelAtPeriodEnd: true, needsSync: false });
});

test('so is the answer that the provider does not know the subscription', async () => {
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

  expect(await row(subscription.id)).toMatchObject({ problem: null, needsSync: true });
});
