import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import type { App } from '../app.ts';
import type { Administrator } from '../auth/principal.ts';
import { endSubscriptions } from '../billing/actions/end-subscriptions.ts';
import type { BillingApp } from '../billing/actions/require-payment.ts';
import { startCheckout } from '../billing/actions/start-checkout.ts';
import { nextCustomer } from '../billing/customers/customer.ts';
import { reconcileAll } from '../billing/sync/reconcile.ts';
import { readPlan } from '../organisations/plan.ts';
import { paymentCustomers, paymentSubscriptions } from '../platform/db/schema/billing.ts';
import { createPayment } from '../platform/providers/payment/connection.ts';
import { makeMember, makeSubscriber } from '../testing/billing.ts';
import { useBillingTest } from '../testing/use-billing-test.ts';
import { replaceCustomer } from './replace-customer.ts';

const foreignKey = 'sk_test_foreign';

const billing = useBillingTest();
/** The same deployment under a key of another account. */
let foreign: BillingApp;
beforeAll(async () => {
  const { payment } = billing.sandbox;
  payment.openAccount({ secretKey: foreignKey, account: 'another' });
  foreign = { ...billing.app, payment: createPayment({ secretKey: foreignKey, apiUrl: payment.apiUrl }) };
});

const buy = (app: BillingApp, principal: Administrator) => startCheckout(app, principal, { tier: 'silver' });
const tierOf = async (app: App, { organisationId }: Administrator) => (await readPlan(app, organisationId ?? '')).tier;
const unavailable = { code: 'PROVIDER_UNAVAILABLE' };

function customersOf({ organisationId }: Administrator) {
  const theirs = eq(paymentCustomers.organisationId, organisationId ?? '');
  return billing.app.db.select().from(paymentCustomers).where(theirs);
}

function rowsOf({ organisationId }: Administrator) {
  const theirs = eq(paymentSubscriptions.organisationId, organisationId ?? '');
  return billing.app.db.select().from(paymentSubscriptions).where(theirs);
}

describe('the command that starts a customer anew', () => {
  test('lets an organisation buy again if the provider does not know its customer', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const { customers, subscriptions } = billing.sandbox.payment.state();
    delete customers[String(subscription.customer)];
    delete subscriptions[subscription.id];
    await expect(buy(billing.app, principal)).rejects.toMatchObject(unavailable);

    const { givenUpIds } = await replaceCustomer(billing.app, { organisationId: principal.organisationId });
    expect(givenUpIds).toContain(subscription.customer);
    expect(await tierOf(billing.app, principal)).toBe('free');
    // The operator has decided, so nothing is left to look at.
    expect(await rowsOf(principal)).toMatchObject([{ ended: true, problem: null }]);
    expect((await buy(billing.app, principal)).url).toMatch(/^http/);
    await endSubscriptions(billing.app, principal.organisationId);
  });

  test('gives up the plan of an earlier customer that is lost, beside a known customer', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const customer = eq(paymentCustomers.customerId, String(subscription.customer));
    await billing.app.db.update(paymentCustomers).set(nextCustomer).where(customer);
    const { customers, subscriptions } = billing.sandbox.payment.state();
    delete customers[String(subscription.customer)];
    delete subscriptions[subscription.id];
    await expect(buy(billing.app, principal)).rejects.toMatchObject(unavailable);

    const { givenUpIds } = await replaceCustomer(billing.app, { organisationId: principal.organisationId });
    expect(givenUpIds).toContain(subscription.id);
    expect((await buy(billing.app, principal)).url).toMatch(/^http/);
  });

  test('is reverted by an answer of the provider that shows the plan', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    await replaceCustomer(foreign, { organisationId: principal.organisationId });
    expect(await tierOf(billing.app, principal)).toBe('free');
    await reconcileAll(billing.app);
    expect(await tierOf(billing.app, principal)).toBe('silver');
    expect(await rowsOf(principal)).toMatchObject([{ id: subscription.id, status: 'active', problem: null }]);
  });

  test('refuses while the provider knows the customer, and where there is none', async () => {
    const { principal } = await makeSubscriber(billing);
    await expect(replaceCustomer(billing.app, { organisationId: principal.organisationId })).rejects.toMatchObject({
      code: 'VALIDATION',
    });
    expect(await customersOf(principal)).toMatchObject([{ goneAt: null }]);

    const other = await makeMember(billing);
    await expect(replaceCustomer(billing.app, { organisationId: other.organisationId ?? '' })).rejects.toMatchObject({
      code: 'VALIDATION',
    });
  });
});
