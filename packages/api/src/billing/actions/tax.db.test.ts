import { desc, eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { readOrganisation } from '../../members/own-organisations.ts';
import { paymentEvents, paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { makeMember, makeSubscriber, ownedBy } from '../../testing/billing.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { livePrices } from '../prices/live-prices.ts';
import { readOverview } from '../summary/read-overview.ts';
import { compareAll } from '../sync/reconcile.ts';
import { openPortal } from './open-portal.ts';
import { requirePayment } from './require-payment.ts';
import { setUpBilling } from './set-up-billing.ts';
import { startCheckout } from './start-checkout.ts';

const environment = { PAYMENT_TAX: 'automatic', PAYMENT_PRICE_SILVER: 'own_silver', PAYMENT_PRICE_GOLD: 'own_gold' };
const billing = useBillingTest({ environment });
const provider = () => billing.sandbox.payment;
const ask = () => requirePayment(billing.app).ask;

async function newestEvent() {
  const [event] = await billing.app.db.select().from(paymentEvents).orderBy(desc(paymentEvents.number)).limit(1);
  return event;
}

test('the set-up gives products a tax code and prices a tax behaviour, and /billing says that tax is added', async () => {
  await setUpBilling(billing.app);
  const { products, prices } = provider().state();
  const ours = Object.values(prices).filter(({ lookup_key }) => lookup_key?.startsWith('own_'));
  expect(ours).toMatchObject([{ tax_behavior: 'exclusive' }, { tax_behavior: 'exclusive' }]);
  for (const { product } of ours) expect(products[product]).toMatchObject({ tax_code: 'txcd_10103001' });

  const principal = await makeMember(billing);
  await livePrices(billing.app);
  expect(await readOverview(billing.app, principal)).toMatchObject({ tax: 'exclusive' });
});

test('a checkout asks for name, address and tax number, which are read back as billing data', async () => {
  await setUpBilling(billing.app);
  provider().registerForTax('GB');
  const principal = await makeMember(billing);
  const { url } = await startCheckout(billing.app, principal, { tier: 'silver' });
  expect(ownedBy(billing, principal).sessions).toMatchObject([
    { automatic_tax: { enabled: true }, tax_id_collection: { enabled: true } },
  ]);
  const buyer = { name: 'Larch Ltd', country: 'GB', tax_id: 'GB123456789', email: 'bills@larch.example' };
  const body = new URLSearchParams({ card: '4242424242424242', ...buyer });
  expect((await fetch(url, { method: 'POST', body, redirect: 'manual' })).status).toBe(303);
  await billing.settled();
  const customer = ownedBy(billing, principal).customers[0]?.id ?? '';
  const { data } = await ask()((api) => api.invoices.list({ customer }));
  expect(data).toMatchObject([{ total_excluding_tax: 2400, total: 2880 }]);
  expect(await readOrganisation(billing.app, principal)).toMatchObject({
    billing_name: 'Larch Ltd',
    billing_address: 'GB',
  });

  const { url: portal } = await openPortal(billing.app, principal, { page: 'details' });
  provider().portal(portal).updateCustomer({ name: 'Larch GmbH', country: 'DE' });
  await billing.settled();
  expect(await readOrganisation(billing.app, principal)).toMatchObject({
    billing_name: 'Larch GmbH',
    billing_address: 'DE',
  });
});

test('an event is marked that shows that no tax is computed any more, once, and one of an invoice that was not finalised', async () => {
  await setUpBilling(billing.app);
  const { principal, subscription } = await makeSubscriber(billing);
  await billing.settled();
  const tax = { enabled: true, liability: null, disabled_reason: null };
  const lost = {
    ...subscription,
    automatic_tax: { ...tax, enabled: false, disabled_reason: 'requires_location_inputs' },
  };
  provider().emit('customer.subscription.updated', lost, { before: { ...lost, automatic_tax: tax } });
  await billing.settled();
  expect(await newestEvent()).toMatchObject({
    outcome: 'noted',
    flagged: true,
    organisationId: principal.organisationId,
  });
  provider().emit('customer.subscription.updated', lost, { before: { ...lost, description: 'Before' } });
  await billing.settled();
  expect(await newestEvent()).toMatchObject({ outcome: 'applied', flagged: false });

  const invoice = provider().state().invoices[subscription.latest_invoice ?? ''];
  provider().emit('invoice.finalization_failed', { ...invoice, status: 'draft' });
  await billing.settled();
  expect(await newestEvent()).toMatchObject({ type: 'invoice.finalization_failed', flagged: true });
  expect((await readOverview(billing.app, principal)).plan.tier).toBe('silver');
  const marked = eq(paymentEvents.flagged, true);
  expect(await billing.app.db.$count(paymentEvents, marked)).toBe(2);
});

test('where the event was lost, the comparison flags a lost tax or an invoice that was not finalised, until it is mended', async () => {
  const { subscription } = await makeSubscriber(billing);
  const invoice = provider().state().invoices[subscription.latest_invoice ?? ''] ?? raise();
  const tax = { ...subscription.automatic_tax };
  async function problem() {
    const { problems, repaired } = await compareAll(billing.app);
    expect(repaired).toEqual([]);
    const [row] = await billing.app.db
      .select()
      .from(paymentSubscriptions)
      .where(eq(paymentSubscriptions.id, subscription.id));
    const ofThis = problems.filter((each) => each.subscription === subscription.id);
    expect(ofThis.map((each) => each.problem)).toEqual(row?.problem ? [row.problem] : []);
    return row?.problem;
  }

  expect(await problem()).toBeNull();
  subscription.automatic_tax = { ...tax, enabled: false, disabled_reason: 'requires_location_inputs' };
  expect(await problem()).toBe('tax_disabled');
  subscription.automatic_tax = tax;
  expect(await problem()).toBeNull();

  invoice.automatic_tax = { ...invoice.automatic_tax, disabled_reason: 'finalization_requires_location_inputs' };
  expect(await problem()).toBe('tax_disabled');
  Object.assign(invoice, { status: 'draft', last_finalization_error: { type: 'invalid_request_error' } });
  expect(await problem()).toBe('not_finalised');
  invoice.automatic_tax = { ...invoice.automatic_tax, disabled_reason: null };
  Object.assign(invoice, { status: 'paid', last_finalization_error: null });
  expect(await problem()).toBeNull();
});

function raise(): never {
  throw new Error('There is no invoice.');
}
