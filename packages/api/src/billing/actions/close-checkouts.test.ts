import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { paymentCheckouts } from '../../platform/db/schema/billing.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { makeIncomplete, makeSecond, makeSubscriber, ownedBy } from '../../testing/billing.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { enqueueDue } from '../sync/jobs.ts';
import { reconcileAll } from '../sync/reconcile.ts';
import { adoptSubscription } from '../sync/sync.ts';
import { closeCheckoutsIfPaid } from './close-checkouts.ts';
import { requirePayment } from './require-payment.ts';
import { startCheckout } from './start-checkout.ts';

const billing = useBillingTest({ emptiesProvider: true });
const provider = () => billing.sandbox.payment;

/** Creates an organisation whose plan has ended and that has an open checkout, with its card at the provider. */
async function makeBuyer() {
  const { principal, subscription } = await makeSubscriber(billing);
  await requirePayment(billing.app).ask((api) => api.subscriptions.cancel(subscription.id));
  await billing.settled();
  const { url } = await startCheckout(billing.app, principal, { tier: 'silver' });
  return { principal, url, customer: subscription.customer };
}

type Buyer = Awaited<ReturnType<typeof makeBuyer>>;

const openOf = ({ principal }: Buyer) => ownedBy(billing, principal).sessions.filter(({ status }) => status === 'open');

async function storedOpenOf({ principal }: Buyer) {
  const rows = await billing.app.db
    .select({ closedAt: paymentCheckouts.closedAt })
    .from(paymentCheckouts)
    .where(eq(paymentCheckouts.organisationId, principal.organisationId));
  return rows.filter(({ closedAt }) => closedAt === null);
}

const running = ({ principal }: Buyer) =>
  ownedBy(billing, principal).subscriptions.filter(({ status }) => status === 'active');

test('a subscription that starts at the provider during a checkout closes the checkout, so nothing is paid twice', async () => {
  const buyer = await makeBuyer();
  await makeSecond(billing, buyer.customer, 'gold');
  await billing.settled();
  expect(openOf(buyer)).toEqual([]);
  expect(await storedOpenOf(buyer)).toEqual([]);
  expect(running(buyer)).toHaveLength(1);
});

test('the provider’s answer closes the checkout if the events of the subscription are lost', async () => {
  const buyer = await makeBuyer();
  provider().set({ drop_deliveries: true });
  await makeSecond(billing, buyer.customer, 'gold');
  await reconcileAll(billing.app);
  await billing.settled();
  expect(openOf(buyer)).toEqual([]);
});

test('a checkout is closed once the provider answers again', async () => {
  const buyer = await makeBuyer();
  provider().set({ delivery_delay_ms: 100 });
  await makeSecond(billing, buyer.customer, 'gold');
  provider().set({ api_failure: 500 });
  await provider().deliveries.settled({ retries: true });
  const close = () => closeCheckoutsIfPaid(billing.app, buyer.principal.organisationId);
  await expect(close()).rejects.toMatchObject({ code: 'PROVIDER_UNAVAILABLE' });
  expect(openOf(buyer)).toHaveLength(1);
  provider().resetSwitches();
  await close();
  await close();
  expect(openOf(buyer)).toEqual([]);
});

test('a checkout stays open while a subscription awaits its first payment, and after it was paid nothing is closed', async () => {
  const buyer = await makeBuyer();
  await makeIncomplete(billing, buyer.customer);
  await billing.settled();
  await closeCheckoutsIfPaid(billing.app, buyer.principal.organisationId);
  expect(openOf(buyer)).toHaveLength(1);
  provider().payCheckout(buyer.url);
  await billing.settled();
  expect(running(buyer)).toHaveLength(1);
});

describe('the job of each minute', () => {
  /** Counts the jobs so far. */
  async function jobs(): Promise<number> {
    return (await billing.app.sql`select from pgboss.job where name = 'payment-checkouts'`).length;
  }

  /** Creates a buyer to whom another node, of a release that closes no checkouts, has stored a subscription. */
  async function makeBuyerOfOlderRelease() {
    const buyer = await makeBuyer();
    provider().set({ drop_deliveries: true });
    const { id } = await makeSecond(billing, buyer.customer, 'gold');
    const { organisationId } = buyer.principal;
    const older = { ...billing.app, jobs: { ...billing.app.jobs, send: async () => {} } };
    await adoptSubscription(older, { organisationId, customerId: String(buyer.customer) }, id);
    await billing.settled();
    expect(openOf(buyer)).toHaveLength(1);
    return buyer;
  }

  test('closes the checkout of a subscription that a node of an older release has stored', async () => {
    const buyer = await makeBuyerOfOlderRelease();
    await enqueueDue(billing.app);
    await billing.settled();
    expect(openOf(buyer)).toEqual([]);
    expect(running(buyer)).toHaveLength(1);
  });

  test('asks once about a checkout whose end no event has reported', async () => {
    const buyer = await makeBuyerOfOlderRelease();
    for (const { id } of openOf(buyer))
      await requirePayment(billing.app).ask((api) => api.checkout.sessions.expire(id));
    await enqueueDue(billing.app);
    await billing.settled();
    expect(await storedOpenOf(buyer)).toEqual([]);
    const before = await jobs();
    await enqueueDue(billing.app);
    expect(await jobs()).toBe(before);
  });

  test('leaves checkouts alone that can no longer be paid, or whose organisation has no started subscription', async () => {
    const old = await makeBuyerOfOlderRelease();
    const dayBefore = new Date(billing.app.now().getTime() - dayMilliseconds);
    const own = eq(paymentCheckouts.organisationId, old.principal.organisationId);
    await billing.app.db.update(paymentCheckouts).set({ openedAt: dayBefore }).where(own);
    await makeBuyer();
    const before = await jobs();
    await enqueueDue(billing.app);
    expect(await jobs()).toBe(before);
  });
});
