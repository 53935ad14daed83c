import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Administrator } from '../auth/principal.ts';
import { createApp } from '../create-app.ts';
import { readPlan } from '../organisations/plan.ts';
import { paymentCustomers, paymentSettings } from '../platform/db/schema/billing.ts';
import { silentLog } from '../platform/log.ts';
import { createPayment } from '../platform/providers/payment/connection.ts';
import { makeSubscriber, ownedBy } from '../testing/billing.ts';
import { migrationsFolder } from '../testing/database/database.ts';
import { useBillingTest } from '../testing/use-billing-test.ts';
import { endSubscriptions } from './actions/end-subscriptions.ts';
import { openPortal } from './actions/open-portal.ts';
import type { BillingApp } from './actions/require-payment.ts';
import { setCancellation } from './actions/set-cancellation.ts';
import { setUpBilling } from './actions/set-up-billing.ts';
import { startCheckout } from './actions/start-checkout.ts';
import { claimMode, storedMode } from './mode.ts';

const foreignKey = 'sk_test_foreign';
const billing = useBillingTest();
/** The same deployment and database under a key of another account. */
let foreign: BillingApp;
beforeAll(() => {
  const { payment } = billing.sandbox;
  payment.openAccount({ secretKey: foreignKey, account: 'another' });
  foreign = { ...billing.app, payment: createPayment({ secretKey: foreignKey, apiUrl: payment.apiUrl }) };
});

const buy = (app: BillingApp, principal: Administrator, tier = 'silver') => startCheckout(app, principal, { tier });
const unavailable = { code: 'PROVIDER_UNAVAILABLE' };

function customersOf({ organisationId }: Administrator) {
  const theirs = eq(paymentCustomers.organisationId, organisationId ?? '');
  return billing.app.db.select().from(paymentCustomers).where(theirs);
}

describe('the mode of a database', () => {
  const live = (): BillingApp => {
    const { apiUrl } = billing.sandbox.payment;
    return { ...billing.app, payment: createPayment({ secretKey: 'sk_live_sandbox', apiUrl }) };
  };
  const sentence =
    'PAYMENT_SECRET_KEY is of live mode, and this database holds customers of test mode: set the test key, or run the admin command forget-payments first.';

  test('is that of the first key that a service starts with', async () => {
    expect(await storedMode(billing.app)).toBe('test');
  });

  test('refuses the start of a service with a key of the other mode', async () => {
    const config = { ...billing.app.config };
    if (config.payment !== null) config.payment = { ...config.payment, secretKey: 'sk_live_sandbox' };
    const start = createApp({ config, migrations: migrationsFolder, work: true, log: silentLog });
    await expect(start).rejects.toThrow(sentence);
  });

  test('refuses billing-setup with a key of the other mode', async () => {
    await expect(setUpBilling(live())).rejects.toThrow(sentence);
  });

  test('does not matter without a key', async () => {
    await claimMode({ ...billing.app, payment: null });
    expect(await storedMode(billing.app)).toBe('test');
  });

  test('is that of the next key once it is forgotten', async () => {
    await billing.app.db.delete(paymentSettings).where(eq(paymentSettings.name, 'mode'));
    await claimMode(live());
    expect(await storedMode(billing.app)).toBe('live');
    await billing.app.db.update(paymentSettings).set({ value: 'test' }).where(eq(paymentSettings.name, 'mode'));
  });
});

const actions: [string, (app: BillingApp, principal: Administrator) => Promise<unknown>][] = [
  ['checkout', (app, principal) => buy(app, principal, 'gold')],
  ['the portal', (app, principal) => openPortal(app, principal, {})],
  ['cancel', (app, principal) => setCancellation(app, principal, { cancel: true })],
  ['resume', (app, principal) => setCancellation(app, principal, { cancel: false })],
  ['deletion', (app, { organisationId }) => endSubscriptions(app, organisationId ?? '')],
];

describe('a key of another account', () => {
  test.each(actions)('refuses %s, ends no customer and flags the row', async (_, act) => {
    const { principal, subscription } = await makeSubscriber(billing);
    await expect(act(foreign, principal)).rejects.toMatchObject(unavailable);

    expect(await customersOf(principal)).toMatchObject([
      { number: 1, customerId: subscription.customer, goneAt: null, problem: 'unknown_to_provider' },
    ]);
    expect((await readPlan(billing.app, principal.organisationId ?? '')).tier).toBe('silver');
    expect(JSON.stringify(billing.logged)).toContain('test mode, ending in eign');
    expect(JSON.stringify(billing.logged)).not.toContain(foreignKey);
  });

  test('leaves the plan where the right key finds it again, and creates no second one', async () => {
    const { principal } = await makeSubscriber(billing);
    await expect(buy(foreign, principal)).rejects.toMatchObject(unavailable);

    await expect(buy(billing.app, principal)).rejects.toMatchObject({ code: 'VALIDATION' });
    expect(await customersOf(principal)).toMatchObject([{ problem: null }]);
    await endSubscriptions(billing.app, principal.organisationId ?? '');
    expect(ownedBy(billing, principal).subscriptions.map(({ status }) => status)).toEqual(['canceled']);
  });
});
