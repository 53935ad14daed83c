import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { App } from '../app.ts';
import type { Administrator } from '../auth/principal.ts';
import { paymentCustomers, paymentSubscriptions } from '../platform/db/schema/billing.ts';
import { makeSubscriber, ownedBy } from '../testing/billing.ts';
import { useBillingTest } from '../testing/use-billing-test.ts';
import { endSubscriptions } from './actions/end-subscriptions.ts';
import { openPortal } from './actions/open-portal.ts';
import { type BillingApp, requirePayment } from './actions/require-payment.ts';
import { setCancellation } from './actions/set-cancellation.ts';
import { startCheckout } from './actions/start-checkout.ts';
import { readPlan } from './entitlement/read-plan.ts';

const billing = useBillingTest();
const buy = (app: BillingApp, principal: Administrator, tier = 'silver') => startCheckout(app, principal, { tier });
const unavailable = { code: 'PROVIDER_UNAVAILABLE' };

function customersOf({ organisationId }: Administrator) {
  return billing.app.db
    .select()
    .from(paymentCustomers)
    .where(eq(paymentCustomers.organisationId, organisationId ?? ''))
    .orderBy(paymentCustomers.generation);
}

const tierOf = async (app: App, { organisationId }: Administrator) => (await readPlan(app, organisationId ?? '')).tier;

test('the deletion also ends live subscriptions of an earlier customer', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  const customer = eq(paymentCustomers.customerId, String(subscription.customer));
  await billing.app.db.update(paymentCustomers).set({ goneAt: billing.app.now() }).where(customer);
  await billing.app.db.delete(paymentSubscriptions).where(eq(paymentSubscriptions.id, subscription.id));
  await endSubscriptions(billing.app, principal.organisationId);
  expect(ownedBy(billing, principal).subscriptions.map(({ status }) => status)).toEqual(['canceled']);
});

test.each([
  ['cancel', true],
  ['resume', false],
])('a failed list of an earlier customer does not keep %s from the plan of the current one', async (_, cancel) => {
  const { principal, subscription: before } = await makeSubscriber(billing);
  const customer = eq(paymentCustomers.customerId, String(before.customer));
  await billing.app.db.update(paymentCustomers).set({ goneAt: billing.app.now() }).where(customer);
  const portal = await openPortal(billing.app, principal, {});
  const world = billing.sandbox.payment;
  const now = ownedBy(billing, principal).customers.find(({ id }) => id !== before.customer)?.id ?? '';
  const method = await requirePayment(billing.app).ask((api) =>
    api.paymentMethods.attach('pm_card_visa', { customer: now }),
  );
  expect(portal.url).toMatch(/^http/);
  const { id } = await requirePayment(billing.app).ask((api) =>
    api.subscriptions.create({
      customer: now,
      items: [{ price: String(before.items.data[0]?.price.id) }],
      default_payment_method: method.id,
    }),
  );
  if (!cancel) await setCancellation(billing.app, principal, { cancel: true });
  // A sync of its own events would take the failure.
  await billing.settled();

  world.failNext(400, { count: 1, only: 'GET /v1/subscriptions' });
  await expect(setCancellation(billing.app, principal, { cancel })).rejects.toMatchObject({
    code: 'PROVIDER_UNAVAILABLE',
    message: `The payment provider did not show every plan of this organisation. What it showed was ${
      cancel ? 'cancelled' : 'resumed'
    }. Try again in a moment.`,
  });
  expect(world.state().subscriptions[id]?.cancel_at_period_end).toBe(cancel);
  expect(before.cancel_at_period_end).toBe(cancel);
  expect(await setCancellation(billing.app, principal, { cancel })).toMatchObject({ cancel_at_period_end: cancel });
});

test('a failed list of an earlier customer prevents a checkout, which could buy a second plan', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  const customer = eq(paymentCustomers.customerId, String(subscription.customer));
  await billing.app.db.update(paymentCustomers).set({ goneAt: billing.app.now() }).where(customer);
  billing.sandbox.payment.failNext(400, { count: 1, only: 'GET /v1/subscriptions' });
  await expect(buy(billing.app, principal)).rejects.toMatchObject(unavailable);
  billing.sandbox.payment.failNext(400, { count: 1, only: 'GET /v1/subscriptions' });
  await expect(endSubscriptions(billing.app, principal.organisationId)).rejects.toMatchObject(unavailable);
});

test('a checkout does not buy a second plan beside that of an earlier customer', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  const customer = eq(paymentCustomers.customerId, String(subscription.customer));
  await billing.app.db.update(paymentCustomers).set({ goneAt: billing.app.now() }).where(customer);
  await expect(buy(billing.app, principal)).rejects.toMatchObject({ code: 'VALIDATION' });
  expect((await buy(billing.app, principal, 'gold')).url).toContain('/portal');
  expect(ownedBy(billing, principal).sessions.filter(({ status }) => status === 'open')).toEqual([]);
});

describe('a customer that the provider has deleted', () => {
  async function deleted() {
    const { principal, subscription } = await makeSubscriber(billing);
    billing.sandbox.payment.set({ drop_deliveries: true });
    await billing.app.payment?.ask((provider) => provider.customers.del(String(subscription.customer)));
    return principal;
  }

  test('is replaced by a checkout', async () => {
    const principal = await deleted();
    expect((await buy(billing.app, principal)).url).toMatch(/^http/);
    const [before, after] = await customersOf(principal);
    expect([before?.goneAt, after?.goneAt]).toEqual([expect.any(Date), null]);
    expect(await tierOf(billing.app, principal)).toBe('free');
  });

  test('does not prevent the deletion of its organisation', async () => {
    const principal = await deleted();
    await endSubscriptions(billing.app, principal.organisationId);
    expect(await tierOf(billing.app, principal)).toBe('free');
  });
});
