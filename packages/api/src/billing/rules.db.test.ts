import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import {
  paymentCheckouts,
  paymentCustomers,
  paymentEvents,
  paymentLivePrices,
  paymentSettings,
  paymentSubscriptions,
} from '../platform/db/schema/billing.ts';
import { dayMilliseconds } from '../platform/durations.ts';
import { makeMember, makeSecond, makeSubscriber, ownedBy } from '../testing/billing.ts';
import { interrupted } from '../testing/payment/interrupted.ts';
import { deliver, makeEvent } from '../testing/payment/payment-events.ts';
import { useBillingTest } from '../testing/use-billing-test.ts';
import { openPortal } from './actions/open-portal.ts';
import { setCancellation } from './actions/set-cancellation.ts';
import { startCheckout } from './actions/start-checkout.ts';
import { leaseOf } from './customers/customer.ts';
import { withLease } from './customers/lease.ts';
import { applyUndelivered } from './events/apply-undelivered.ts';
import { deleteOldEvents } from './events/delete-old-events.ts';
import { portalSetting } from './prices/portal-configuration.ts';
import { reconcileAll } from './sync/reconcile.ts';
import { syncSubscription } from './sync/sync.ts';

const billing = useBillingTest();
const provider = () => billing.sandbox.payment;
const second = () => Math.floor(billing.app.now().getTime() / 1000);
const send = (type: string, object: object, more?: object) =>
  deliver(billing.app, makeEvent(billing.app, type, object, more));

async function row(id: string) {
  const [found] = await billing.app.db.select().from(paymentSubscriptions).where(eq(paymentSubscriptions.id, id));
  return found;
}

test.each([1, 2, 3])('a checkout that is paid after answer %i allows no second one', async (n) => {
  const principal = await makeMember(billing);
  const { url } = await startCheckout(billing.app, principal, { tier: 'silver' });
  provider().set({ drop_deliveries: true });
  const app = interrupted(billing.app, n, () => provider().payCheckout(url));
  await startCheckout(app, principal, { tier: 'gold' }).catch(() => null);

  const { subscriptions, sessions } = ownedBy(billing, principal);
  expect(subscriptions).toHaveLength(1);
  expect(sessions.filter(({ status }) => status === 'open')).toEqual([]);
});

test('a sync waits for the holder of the lease', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  let over = false;
  let synced: Promise<void> = Promise.resolve();
  await withLease(billing.app, leaseOf(principal.organisationId), async () => {
    synced = syncSubscription(billing.app, subscription.id).then(() => expect(over).toBe(true));
    await new Promise((resolve) => setTimeout(resolve, 300));
    over = true;
  });
  await synced;
});

test('grace runs from the newest run of failed payments, even if only a sync reported the end of the earlier run', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  provider().set({ drop_deliveries: true });
  const started = second();

  /** Delivers an event of a failed payment. The lease keeps away the sync that the event requests, which would find the invoice paid. */
  async function failPayment(created: number) {
    await withLease(billing.app, leaseOf(principal.organisationId), async () => {
      await send('customer.subscription.updated', { ...subscription, status: 'past_due' }, { created });
      expect((await row(subscription.id))?.pastDueSince).toEqual(new Date(created * 1000));
    });
  }
  await failPayment(started + 10);

  // The subscription is active again at the provider, and the event about it was lost.
  await syncSubscription(billing.app, subscription.id);
  expect(await row(subscription.id)).toMatchObject({ status: 'active', pastDueSince: null });

  await failPayment(started + 5000);
  await billing.settled();
});

describe('a price', () => {
  test('that was bought by its lookup key keeps its tier after the key was transferred', async () => {
    const { subscription } = await makeSubscriber(billing);
    provider().failNext('close', { count: 1000 });
    const priced = (price: object, status = 'active') => ({
      ...subscription,
      status,
      metadata: {},
      items: { ...subscription.items, data: [{ ...subscription.items.data[0], price }] },
    });
    const bought = { id: 'price_first', lookup_key: 'gold_monthly', product: 'prod_first' };
    await send('customer.subscription.updated', priced(bought), { created: second() + 1 });
    expect(await row(subscription.id)).toMatchObject({ tier: 'gold', tierSource: 'lookup_key' });

    const left = { id: 'price_first', lookup_key: null, product: 'prod_other' };
    await send('customer.subscription.updated', priced(left), { created: second() + 2 });
    expect(await row(subscription.id)).toMatchObject({ tier: 'gold', tierSource: 'price' });
  });

  test('that changes is no longer considered fresh', async () => {
    provider().failNext('close', { count: 1000 });
    await billing.app.db.update(paymentLivePrices).set({ lookedUpAt: billing.app.now() });
    await send('price.updated', { id: 'price_n', lookup_key: 'silver_monthly' });
    const prices = await billing.app.db.select().from(paymentLivePrices);
    expect(prices.map(({ lookedUpAt }) => lookedUpAt)).toEqual([null, null]);
  });
});

test.each(['another organisation’s', 'the organisation’s own'])(
  'an event that gives a subscription of ours another customer, %s, is flagged and changes nothing',
  async (whose) => {
    const { principal, subscription } = await makeSubscriber(billing);
    const customer = whose.startsWith('another')
      ? (await makeSubscriber(billing)).subscription.customer
      : `cus_next_${principal.organisationId}`;
    if (!whose.startsWith('another')) {
      const own = eq(paymentCustomers.organisationId, principal.organisationId);
      await billing.app.db
        .update(paymentCustomers)
        .set({ customerId: String(customer) })
        .where(own);
    }

    const before = await row(subscription.id);
    const event = makeEvent(billing.app, 'customer.subscription.deleted', {
      ...subscription,
      customer,
      status: 'canceled',
    });
    expect(await deliver(billing.app, event)).toEqual({ received: true, handled: false });
    expect(await row(subscription.id)).toEqual(before);
    const [kept] = await billing.app.db.select().from(paymentEvents).where(eq(paymentEvents.id, event.id));
    expect(kept).toMatchObject({ outcome: 'contradiction', flagged: true });
  },
);

test('resume of a customer that never had a subscription is refused: there is no paid plan', async () => {
  const principal = await makeMember(billing);
  await startCheckout(billing.app, principal, { tier: 'silver' });
  for (const cancel of [true, false]) {
    await expect(setCancellation(billing.app, principal, { cancel })).rejects.toThrow('There is no paid plan.');
  }
});

test('a missing object other than the customer creates no new customer', async () => {
  const principal = await makeMember(billing);
  await startCheckout(billing.app, principal, { tier: 'silver' });
  const portal = { name: portalSetting, value: 'bpc_gone' };
  await billing.app.db.insert(paymentSettings).values(portal);
  await expect(openPortal(billing.app, principal, {})).rejects.toMatchObject({ code: 'PROVIDER_UNAVAILABLE' });
  await billing.app.db.delete(paymentSettings).where(eq(paymentSettings.name, portal.name));
  expect(ownedBy(billing, principal).customers).toHaveLength(1);
});

test('a change of the plan keeps the quantity', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  const item = subscription.items.data[0];
  if (item === undefined) throw new Error('no item');
  item.quantity = 3;
  const { url } = await startCheckout(billing.app, principal, { tier: 'gold' });
  const session = provider().state().portal_sessions[url.split('/').at(-1) ?? ''];
  expect(session?.flow?.subscription_update_confirm?.items).toMatchObject([{ id: item.id, quantity: 3 }]);
});

test('an open checkout is never deleted, however old', async () => {
  const principal = await makeMember(billing);
  await startCheckout(billing.app, principal, { tier: 'silver' });
  const long = new Date(billing.app.now().getTime() - 900 * dayMilliseconds);
  const own = eq(paymentCheckouts.organisationId, principal.organisationId);
  await billing.app.db.update(paymentCheckouts).set({ openedAt: long }).where(own);
  await deleteOldEvents(billing.app);
  expect(await billing.app.db.$count(paymentCheckouts, own)).toBe(1);

  await billing.app.db.update(paymentCheckouts).set({ closedAt: long }).where(own);
  await deleteOldEvents(billing.app);
  expect(await billing.app.db.$count(paymentCheckouts, own)).toBe(0);
});

describe('more than one page of the provider’s', () => {
  test('undelivered events is read to its end', async () => {
    provider().set({ drop_deliveries: true });
    const emitted = Array.from({ length: 130 }, (_, at) => provider().emit('something.new', { id: `x_${at}` }).id);
    await applyUndelivered(billing.app);
    const kept = await billing.app.db.select({ id: paymentEvents.id }).from(paymentEvents);
    expect(emitted.filter((id) => !kept.some((event) => event.id === id))).toEqual([]);
  });

  test('subscriptions is compared to its end', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    provider().set({ drop_deliveries: true });
    const made = [];
    for (let at = 0; at < 100; at++) made.push((await makeSecond(billing, subscription.customer, 'silver')).id);
    await reconcileAll(billing.app);
    const rows = await billing.app.db
      .select({ id: paymentSubscriptions.id, status: paymentSubscriptions.status })
      .from(paymentSubscriptions)
      .where(eq(paymentSubscriptions.organisationId, principal.organisationId));
    expect(rows.filter(({ status }) => status === 'active')).toHaveLength(made.length + 1);
  });
});
