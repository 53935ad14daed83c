import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Administrator } from '../auth/principal.ts';
import { readPlan } from '../organisations/plan.ts';
import { paymentCustomers } from '../platform/db/schema/billing.ts';
import { makeSubscriber, ownedBy } from '../testing/billing.ts';
import { useBillingTest } from '../testing/use-billing-test.ts';
import { endSubscriptions } from './actions/end-subscriptions.ts';
import { openPortal } from './actions/open-portal.ts';
import { type BillingApp, requirePayment } from './actions/require-payment.ts';
import { setCancellation } from './actions/set-cancellation.ts';
import { startCheckout } from './actions/start-checkout.ts';
import { nextCustomer } from './customers/customer.ts';

const billing = useBillingTest();
const buy = (app: BillingApp, principal: Administrator, tier = 'silver') => startCheckout(app, principal, { tier });
const unavailable = { code: 'PROVIDER_UNAVAILABLE' };

async function customerOf({ organisationId }: Administrator) {
  const theirs = eq(paymentCustomers.organisationId, organisationId ?? '');
  const [row] = await billing.app.db.select().from(paymentCustomers).where(theirs);
  return row;
}

const tierOf = async ({ organisationId }: Administrator) => (await readPlan(billing.app, organisationId ?? '')).tier;

/** A subscriber whose organisation has another customer now, as after the operator's command `new-customer`. */
async function withFormerCustomer() {
  const { principal, subscription } = await makeSubscriber(billing);
  const customer = eq(paymentCustomers.customerId, String(subscription.customer));
  await billing.app.db.update(paymentCustomers).set(nextCustomer).where(customer);
  return { principal, subscription };
}

describe('a live subscription of a former customer', () => {
  test('is ended by the deletion', async () => {
    const { principal } = await withFormerCustomer();
    await endSubscriptions(billing.app, principal.organisationId);
    expect(ownedBy(billing, principal).subscriptions.map(({ status }) => status)).toEqual(['canceled']);
  });

  test('keeps a checkout from buying a second plan', async () => {
    const { principal } = await withFormerCustomer();
    await expect(buy(billing.app, principal)).rejects.toMatchObject({ code: 'VALIDATION' });
    expect((await buy(billing.app, principal, 'gold')).url).toContain('/portal');
    expect(ownedBy(billing, principal).sessions.filter(({ status }) => status === 'open')).toEqual([]);
  });

  test('prevents a checkout while the provider does not answer about it', async () => {
    const { principal } = await withFormerCustomer();
    const only = 'GET /v1/subscriptions/';
    billing.sandbox.payment.failNext(400, { count: 1, only });
    await expect(buy(billing.app, principal)).rejects.toMatchObject(unavailable);
    billing.sandbox.payment.failNext(400, { count: 1, only });
    await expect(endSubscriptions(billing.app, principal.organisationId)).rejects.toMatchObject(unavailable);
  });

  test('follows its late events', async () => {
    const { principal, subscription } = await withFormerCustomer();
    billing.sandbox.payment.forceStatus(subscription.id, 'canceled');
    await billing.settled();
    expect(await tierOf(principal)).toBe('free');
  });

  test.each([
    ['cancel', true],
    ['resume', false],
  ])('does not keep %s from the plan of the current customer', async (_, cancel) => {
    const { principal, subscription: before } = await withFormerCustomer();
    await openPortal(billing.app, principal, {});
    const world = billing.sandbox.payment;
    const now = ownedBy(billing, principal).customers.find(({ id }) => id !== before.customer)?.id ?? '';
    const { ask } = requirePayment(billing.app);
    const method = await ask((api) => api.paymentMethods.attach('pm_card_visa', { customer: now }));
    const items = [{ price: String(before.items.data[0]?.price.id) }];
    const { id } = await ask((api) =>
      api.subscriptions.create({ customer: now, items, default_payment_method: method.id }),
    );
    if (!cancel) await setCancellation(billing.app, principal, { cancel: true });
    // A sync of its own events would take the failure.
    await billing.settled();

    world.failNext(400, { count: 1, only: 'GET /v1/subscriptions/' });
    await expect(setCancellation(billing.app, principal, { cancel })).rejects.toMatchObject(unavailable);
    expect(world.state().subscriptions[id]?.cancel_at_period_end).toBe(cancel);
    expect(await setCancellation(billing.app, principal, { cancel })).toMatchObject({ cancel_at_period_end: cancel });
  });
});

describe('a customer that the provider has deleted', () => {
  async function deleted() {
    const { principal, subscription } = await makeSubscriber(billing);
    billing.sandbox.payment.set({ drop_deliveries: true });
    await billing.app.payment?.ask((provider) => provider.customers.del(String(subscription.customer)));
    return { principal, subscription };
  }

  test('is replaced by a checkout', async () => {
    const { principal, subscription } = await deleted();
    expect((await buy(billing.app, principal)).url).toMatch(/^http/);
    const customer = await customerOf(principal);
    expect(customer).toMatchObject({ number: 2, goneAt: null });
    expect(customer?.customerId).not.toBe(subscription.customer);
    expect(await tierOf(principal)).toBe('free');
  });

  test('does not prevent the deletion of its organisation', async () => {
    const { principal } = await deleted();
    await endSubscriptions(billing.app, principal.organisationId);
    expect(await tierOf(principal)).toBe('free');
  });
});
