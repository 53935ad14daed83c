import { beforeEach, expect, test } from 'vitest';
import { paymentSettings } from '../../platform/db/schema/billing.ts';
import { makeMember, makeSubscriber, ownedBy } from '../../testing/billing.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { requirePayment } from '../actions/require-payment.ts';
import { setUpBilling } from '../actions/set-up-billing.ts';
import { startCheckout } from '../actions/start-checkout.ts';
import { livePrices, refreshPrices } from './live-prices.ts';
import { updatePortal } from './portal-configuration.ts';

const billing = useBillingTest();
beforeEach(async () => {
  await setUpBilling(billing.app);
  await billing.settled();
});

/** Moves a tier's lookup key to a new price of the same product. */
async function priceIsNow(tier: 'silver' | 'gold', amount: number): Promise<string> {
  const price = await requirePayment(billing.app).ask((provider) =>
    provider.prices.create({
      product: `prod_sandbox_${tier}`,
      currency: 'gbp',
      unit_amount: amount,
      recurring: { interval: 'month' },
      lookup_key: `${tier}_monthly`,
      transfer_lookup_key: true,
    }),
  );
  return price.id;
}

function configuration() {
  const { portal_configurations } = billing.sandbox.payment.state();
  const ours = Object.values(portal_configurations).find(({ is_default }) => !is_default);
  if (ours === undefined) throw new Error('There is no configuration of the portal.');
  return ours;
}

function offered(): string[] {
  return (configuration().features.subscription_update.products ?? []).flatMap(({ prices }) => prices);
}

test('an upgrade in the portal is charged when it happens', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  const { url } = await startCheckout(billing.app, principal, { tier: 'gold' });
  billing.sandbox.payment.portal(url).changePlan(subscription.id, offered()[1] ?? '');
  await billing.settled();

  const invoices = ownedBy(billing, principal).invoices.map(({ status, amount_paid }) => [status, amount_paid]);
  expect(invoices).toEqual([
    ['paid', 2400],
    ['paid', 5500],
  ]);
});

test('a price’s event brings the portal to the new price', async () => {
  const price = await priceIsNow('gold', 9900);
  await billing.settled();
  expect(offered()).toContain(price);
  expect(offered()).toHaveLength(2);
  expect((await livePrices(billing.app)).gold?.[0]?.shown?.amounts).toEqual({ gbp: 9900 });
});

test('a look-up that shows another price brings the portal to it, when the event was lost', async () => {
  billing.sandbox.payment.set({ drop_deliveries: true });
  const price = await priceIsNow('gold', 10_900);
  await refreshPrices(billing.app);
  await billing.settled();
  expect(offered()).toContain(price);
});

test('a checkout that finds another price brings the portal to it', async () => {
  billing.sandbox.payment.set({ drop_deliveries: true });
  const price = await priceIsNow('silver', 2500);
  await startCheckout(billing.app, await makeMember(billing), { tier: 'silver' });
  await billing.settled();
  expect(offered()).toContain(price);
});

test('nothing is written where the portal offers these prices already, however often the job runs', async () => {
  const { subscription_update: update } = configuration().features;
  const { products } = update;
  update.products = [];
  for (let run = 0; run < 3; run++) await updatePortal(billing.app);
  await refreshPrices(billing.app);
  await billing.settled();
  expect(configuration().features.subscription_update.products).toEqual([]);
  configuration().features.subscription_update.products = products;
});

test('an older configuration, by which upgrades are free until the renewal, is corrected by the next look-up', async () => {
  await billing.app.sql`delete from payment_settings where name like '%_offer'`;
  configuration().features.subscription_update.proration_behavior = 'create_prorations';
  await refreshPrices(billing.app);
  await billing.settled();
  expect(configuration().features.subscription_update.proration_behavior).toBe('always_invoice');
});

test('other settings of the portal’s configuration do not change', async () => {
  configuration().features.customer_update = { enabled: true, allowed_updates: ['address'] };
  configuration().features.subscription_update.enabled = false;
  const price = await priceIsNow('gold', 11_900);
  await billing.settled();
  expect(offered()).toContain(price);
  expect(configuration().features).toMatchObject({
    customer_update: { enabled: true, allowed_updates: ['address'] },
    subscription_update: { enabled: false },
  });
});

test('while the provider does not answer the update waits, and is then carried out', async () => {
  billing.sandbox.payment.set({ api_failure: 503, api_failure_only: 'POST /v1/billing_portal/configurations' });
  const price = await priceIsNow('gold', 12_900);
  await expect
    .poll(() =>
      billing.logged.some(({ message, fields }) => message === 'job failed' && fields.job === 'payment-portal'),
    )
    .toBe(true);
  expect(offered()).not.toContain(price);
  billing.sandbox.payment.set({ api_failure: null });
  await billing.settled();
  expect(offered()).toContain(price);
});

test('an update that the provider refuses enqueues no further one', async () => {
  billing.sandbox.payment.set({ api_failure: 403, api_failure_only: 'POST /v1/billing_portal/configurations' });
  billing.sandbox.payment.set({ drop_deliveries: true });
  await priceIsNow('silver', 2600);
  const jobs = () => billing.app.sql`select id from pgboss.job where name = 'payment-portal' order by id`;
  const before = await jobs();
  await expect(updatePortal(billing.app)).rejects.toMatchObject({ code: 'PROVIDER_UNAVAILABLE' });
  expect(await jobs()).toEqual(before);
});

test('two nodes that update the portal while prices change end at the newest prices', async () => {
  const nodes = [billing.app, { ...billing.app }];
  let newest = '';
  async function changePrices() {
    for (let amount = 13_000; amount < 13_010; amount++) newest = await priceIsNow('gold', amount);
  }
  const updates = nodes.flatMap((node) => [1, 2, 3].map(() => updatePortal(node)));
  await Promise.all([changePrices(), ...updates]);
  await billing.settled();
  expect(offered()).toContain(newest);
  expect(offered()).toHaveLength(2);
});

test('where billing-setup never ran, no portal configuration changes', async () => {
  await billing.app.db.delete(paymentSettings);
  const before = structuredClone(billing.sandbox.payment.state().portal_configurations);
  await priceIsNow('gold', 7900);
  await billing.settled();
  await updatePortal(billing.app);
  expect(billing.sandbox.payment.state().portal_configurations).toEqual(before);
});
