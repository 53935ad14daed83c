import type Stripe from 'stripe';
import { expect, test } from 'vitest';
import { postForm, useCheckedSandbox } from '../testing/checked-sandbox.ts';

const setup = useCheckedSandbox();

/** Buys a price of £100 with automatic tax in a checkout, and returns the invoice. */
async function bought(
  tax_behavior: 'exclusive' | 'inclusive',
  country: string,
  code?: string,
): Promise<Stripe.Invoice> {
  const product = await setup.stripe.products.create({ name: 'Copper', tax_code: 'txcd_10103001' });
  const price = await setup.stripe.prices.create({
    product: product.id,
    currency: 'gbp',
    unit_amount: 10_000,
    recurring: { interval: 'month' },
    tax_behavior,
  });
  const { id: customer } = await setup.stripe.customers.create({});
  const { url } = await setup.stripe.checkout.sessions.create({
    mode: 'subscription',
    customer,
    line_items: [{ price: price.id, quantity: 1 }],
    success_url: 'http://localhost:3000/billing',
    allow_promotion_codes: true,
    automatic_tax: { enabled: true },
    tax_id_collection: { enabled: true },
    customer_update: { address: 'auto', name: 'auto' },
  });
  const buyer = { name: 'Larch Ltd', country, ...(code && { promotion_code: code }) };
  expect((await postForm(url as string, { card: '4242424242424242', ...buyer })).status).toBe(303);
  const { data } = await setup.stripe.invoices.list({ customer });
  return data[0] as Stripe.Invoice;
}

test('where the account is registered, tax is added to a price or is in it, after a discount', async () => {
  setup.sandbox.payment.registerForTax('GB');
  expect(await bought('exclusive', 'GB')).toMatchObject({
    subtotal: 10_000,
    total_excluding_tax: 10_000,
    total: 12_000,
    amount_paid: 12_000,
  });
  expect(await bought('inclusive', 'GB')).toMatchObject({
    total_excluding_tax: 8333,
    total: 10_000,
    amount_paid: 10_000,
  });
  expect(await bought('exclusive', 'FR')).toMatchObject({ total: 10_000, total_taxes: [] });

  const coupon = await setup.stripe.coupons.create({ percent_off: 50 });
  await setup.stripe.promotionCodes.create({ promotion: { type: 'coupon', coupon: coupon.id }, code: 'HALF' });
  expect(await bought('exclusive', 'GB', 'HALF')).toMatchObject({ total_excluding_tax: 5000, total: 6000 });
});

test('the tax settings are pending until there is a head office, and a tax behaviour stays', async () => {
  const { stripe, sandbox } = setup;
  expect(await stripe.tax.settings.retrieve()).toMatchObject({
    status: 'pending',
    status_details: { pending: { missing_fields: ['head_office'] } },
  });
  sandbox.payment.registerForTax('DE');
  expect((await stripe.tax.settings.retrieve()).status).toBe('active');
  expect((await stripe.tax.registrations.list()).data).toMatchObject([{ country: 'DE', status: 'active' }]);

  const { id } = await stripe.prices.create({ product_data: { name: 'Once' }, currency: 'gbp', unit_amount: 100 });
  expect((await stripe.prices.update(id, { tax_behavior: 'inclusive' })).tax_behavior).toBe('inclusive');
  await expect(stripe.prices.update(id, { tax_behavior: 'exclusive' })).rejects.toMatchObject({
    param: 'tax_behavior',
  });
});

test('the portal has a page of its own for the customer’s details', async () => {
  const { id: customer } = await setup.stripe.customers.create({});
  const { id: configuration } = await setup.stripe.billingPortal.configurations.create({
    features: { customer_update: { enabled: true, allowed_updates: ['address', 'tax_id', 'name', 'email'] } },
  });
  const flow_data = { type: 'customer_update' as const };
  const { url } = await setup.stripe.billingPortal.sessions.create({ customer, configuration, flow_data });
  expect((await postForm(url, { act: 'customer', name: 'Larch', country: 'FR' })).status).toBe(303);
  expect(await setup.stripe.customers.retrieve(customer)).toMatchObject({ name: 'Larch', address: { country: 'FR' } });
});
