import type { PaymentProvider } from '@gatehouse/payment-sandbox/payment-controls';
import { eq, isNull, or } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import type { App } from '../app.ts';
import type { Administrator } from '../auth/principal.ts';
import { paymentCustomers, paymentSubscriptions } from '../platform/db/schema/billing.ts';
import { createPayment } from '../platform/providers/payment.ts';
import { makeMember, makeSubscriber, ownedBy } from '../testing/billing.ts';
import { useBillingTest } from '../testing/use-billing-test.ts';
import { endSubscriptions } from './actions/end-subscriptions.ts';
import { openPortal } from './actions/open-portal.ts';
import type { BillingApp } from './actions/require-payment.ts';
import { setCancellation } from './actions/set-cancellation.ts';
import { startCheckout } from './actions/start-checkout.ts';
import { warnOfOtherMode } from './customers/other-mode.ts';
import { readPlan } from './entitlement/read-plan.ts';
import { applyEvent } from './events/receive-event.ts';
import { livePrices, refreshPrices } from './prices/live-prices.ts';
import { createPriceCache } from './prices/price-cache.ts';
import { parseEvent } from './projection/provider-objects.ts';
import { enqueueDue } from './sync/jobs.ts';
import { reconcileAll } from './sync/reconcile.ts';
import { syncSubscription } from './sync/sync.ts';

const keys = { live: 'sandbox_live_key', foreign: 'sandbox_foreign_key' };
const billing = useBillingTest();
let worlds: Record<keyof typeof keys, PaymentProvider>;

/** The same deployment and database under another secret key. */
let apps: Record<keyof typeof keys, BillingApp>;

beforeAll(() => {
  const { payment } = billing.sandbox;
  worlds = {
    live: payment.openAccount({ secretKey: keys.live, livemode: true }),
    foreign: payment.openAccount({ secretKey: keys.foreign, account: 'another' }),
  };
  const under = (secretKey: string): BillingApp => ({
    ...billing.app,
    priceCache: createPriceCache(billing.app.plans),
    payment: createPayment({ secretKey, apiUrl: payment.apiUrl }),
  });
  apps = { live: under(keys.live), foreign: under(keys.foreign) };
});

const buy = (app: BillingApp, principal: Administrator, tier = 'silver') => startCheckout(app, principal, { tier });
const unavailable = { code: 'PROVIDER_UNAVAILABLE' };

function customersOf({ organisationId }: Administrator) {
  return billing.app.db
    .select()
    .from(paymentCustomers)
    .where(eq(paymentCustomers.organisationId, organisationId ?? ''))
    .orderBy(paymentCustomers.generation);
}

function rowsOf({ organisationId }: Administrator) {
  return billing.app.db
    .select()
    .from(paymentSubscriptions)
    .where(eq(paymentSubscriptions.organisationId, organisationId ?? ''));
}

const tierOf = async (app: App, { organisationId }: Administrator) => (await readPlan(app, organisationId ?? '')).tier;

/** Removes the modes, as in a database that is older than the column. */
async function forgetMode({ organisationId }: Administrator): Promise<void> {
  const unknown = { livemode: null };
  await billing.app.db
    .update(paymentCustomers)
    .set(unknown)
    .where(eq(paymentCustomers.organisationId, organisationId ?? ''));
  await billing.app.db
    .update(paymentSubscriptions)
    .set(unknown)
    .where(eq(paymentSubscriptions.organisationId, organisationId ?? ''));
}

const actions: [string, (app: BillingApp, principal: Administrator) => Promise<unknown>][] = [
  ['checkout', (app, principal) => buy(app, principal, 'gold')],
  ['the portal', (app, principal) => openPortal(app, principal, {})],
  ['cancel', (app, principal) => setCancellation(app, principal, { cancel: true })],
  ['resume', (app, principal) => setCancellation(app, principal, { cancel: false })],
  ['deletion', (app, { organisationId }) => endSubscriptions(app, organisationId ?? '')],
];

describe.each(['live', 'foreign'] as const)('a wrong key, %s, while the mode of the rows is unknown', (wrong) => {
  test.each(actions)('refuses %s, ends no customer and flags the row', async (_, act) => {
    const { principal, subscription } = await makeSubscriber(billing);
    await forgetMode(principal);
    await expect(act(apps[wrong], principal)).rejects.toMatchObject(unavailable);

    expect(await customersOf(principal)).toMatchObject([
      { generation: 1, customerId: subscription.customer, goneAt: null, problem: 'unknown_to_provider' },
    ]);
    expect(await tierOf(billing.app, principal)).toBe('silver');
    expect(JSON.stringify(billing.logged)).toContain(
      wrong === 'live' ? 'live mode, ending in _key' : 'test mode, ending in _key',
    );
    expect(JSON.stringify(billing.logged)).not.toContain(keys[wrong]);
    expect(Object.keys(worlds[wrong].state().customers)).toEqual([]);
  });
});

test.each(['live', 'foreign'] as const)(
  'after requests with a %s key the right key still finds the plan, and creates no second one',
  async (wrong) => {
    const { principal } = await makeSubscriber(billing);
    await forgetMode(principal);
    await expect(buy(apps[wrong], principal)).rejects.toMatchObject(unavailable);

    await expect(buy(billing.app, principal)).rejects.toMatchObject({ code: 'VALIDATION' });
    expect(await customersOf(principal)).toMatchObject([{ livemode: false, problem: null }]);
    await endSubscriptions(billing.app, principal.organisationId);
    expect(ownedBy(billing, principal).subscriptions.map(({ status }) => status)).toEqual(['canceled']);
  },
);

test('a key of another account is refused also if the mode is known', async () => {
  const { principal } = await makeSubscriber(billing);
  await expect(buy(apps.foreign, principal)).rejects.toMatchObject(unavailable);
  expect(await customersOf(principal)).toMatchObject([{ goneAt: null, problem: 'unknown_to_provider' }]);
});

describe('rows of the other mode', () => {
  test('give no plan, and are kept for the key of their mode', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    expect(await customersOf(principal)).toMatchObject([{ livemode: false }]);
    expect(await rowsOf(principal)).toMatchObject([{ livemode: false }]);

    expect(await tierOf(apps.live, principal)).toBe('free');
    await expect(setCancellation(apps.live, principal, { cancel: true })).rejects.toThrow('There is no paid plan.');
    const { url } = await buy(apps.live, principal);
    worlds.live.payCheckout(url);
    expect(await customersOf(principal)).toMatchObject([{ livemode: false }, { livemode: true, goneAt: null }]);

    expect(await setCancellation(billing.app, principal, { cancel: true })).toMatchObject({
      cancel_at_period_end: true,
    });
    expect(ownedBy(billing, principal).subscriptions).toMatchObject([
      { id: subscription.id, cancel_at_period_end: true },
    ]);
    expect(Object.values(worlds.live.state().subscriptions)).toMatchObject([{ cancel_at_period_end: false }]);
  });

  test('that ended do not count as an ended plan of this key', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    billing.sandbox.payment.forceStatus(subscription.id, 'canceled');
    await billing.settled();
    await expect(setCancellation(billing.app, principal, { cancel: false })).rejects.toThrow('has already ended');
    await expect(setCancellation(apps.live, principal, { cancel: false })).rejects.toThrow('There is no paid plan.');
  });

  test('are neither synced nor compared nor flagged', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const known = { livemode: false, problem: null };
    await billing.app.db.update(paymentCustomers).set(known).where(isNull(paymentCustomers.livemode));
    const mine = or(isNull(paymentSubscriptions.livemode), eq(paymentSubscriptions.livemode, false));
    await billing.app.db
      .update(paymentSubscriptions)
      .set({ ...known, needsSync: true })
      .where(mine);
    await syncSubscription(apps.live, subscription.id);
    expect(await enqueueDue(apps.live)).toBe(0);
    const report = await reconcileAll(apps.live);
    expect(report).toMatchObject({ problems: [], leftOut: [], severalLive: [] });
    expect(await rowsOf(principal)).toMatchObject([{ problem: null, needsSync: true, status: 'active' }]);
  });

  test('of live mode refuse the deletion under a test key, as they would continue to bill', async () => {
    const principal = await makeMember(billing);
    worlds.live.payCheckout((await buy(apps.live, principal)).url);
    await expect(endSubscriptions(billing.app, principal.organisationId)).rejects.toMatchObject(unavailable);
    await endSubscriptions(apps.live, principal.organisationId);
    const [customer] = await customersOf(principal);
    const theirs = Object.values(worlds.live.state().subscriptions).filter(
      (one) => one.customer === customer?.customerId,
    );
    expect(theirs).toMatchObject([{ status: 'canceled' }]);
  });

  test('of test mode do not prevent a deletion under a live key', async () => {
    const { principal } = await makeSubscriber(billing);
    await endSubscriptions(apps.live, principal.organisationId);
  });
});

test('the start of the service warns of rows of the other mode', async () => {
  await makeSubscriber(billing);
  await warnOfOtherMode(apps.live);
  const last = billing.logged.at(-1);
  expect(last).toMatchObject({ level: 'warn', fields: { key: 'live mode, ending in _key' } });
  expect(last?.message).toMatch(/running subscriptions of test mode, and PAYMENT_SECRET_KEY is of the other one/);
});

test('an event stores its mode in rows of unknown mode', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  await forgetMode(principal);
  billing.sandbox.payment.emit('customer.subscription.updated', subscription, { livemode: true });
  await billing.settled();
  expect(await customersOf(principal)).toMatchObject([{ livemode: true }]);
  expect(await rowsOf(principal)).toMatchObject([{ livemode: true, status: 'active' }]);
});

test('a comparison stores the mode of rows that agree with the provider', async () => {
  const { principal } = await makeSubscriber(billing);
  await forgetMode(principal);
  await reconcileAll(billing.app);
  expect(await rowsOf(principal)).toMatchObject([{ livemode: false }]);
  expect(await tierOf(apps.live, principal)).toBe('free');
});

test('an event stores its subscription’s mode if the customer’s mode is known', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  const row = eq(paymentSubscriptions.id, subscription.id);
  await billing.app.db.update(paymentSubscriptions).set({ livemode: null }).where(row);
  const app = { ...billing.app, payment: apps.live.payment };
  const payload = {
    id: 'evt_of_test_mode',
    object: 'event',
    type: 'customer.subscription.updated',
    created: 1000,
    livemode: false,
    data: { object: subscription },
  };
  const event = parseEvent(payload);
  if (event === null) throw new Error('unreadable');
  await applyEvent(app, event, JSON.stringify(payload));
  expect(await rowsOf(principal)).toMatchObject([{ livemode: false }]);
  expect(await tierOf(apps.live, principal)).toBe('free');
});

test('prices of the other mode are not shown, even if the provider does not answer', async () => {
  await refreshPrices(billing.app);
  worlds.live.set({ api_failure: 'close' });
  expect(await livePrices({ ...apps.live, priceCache: createPriceCache(apps.live.plans) })).toEqual({
    silver: null,
    gold: null,
  });
  worlds.live.resetSwitches();
  expect(await livePrices({ ...billing.app, priceCache: createPriceCache(billing.app.plans) })).toMatchObject({
    silver: { amount: 2400 },
  });
});
