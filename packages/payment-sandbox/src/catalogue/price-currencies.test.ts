import { expect, test } from 'vitest';
import { postForm, useCheckedSandbox } from '../testing/checked-sandbox.ts';

const setup = useCheckedSandbox();

async function silverPrice(interval: 'month' | 'year' = 'month') {
  return setup.stripe.prices.create({
    product: 'prod_sandbox_silver',
    currency: 'gbp',
    unit_amount: 2400,
    recurring: { interval },
    currency_options: { eur: { unit_amount: 2800 } },
  });
}

function open(customer: string, price: string, currency: string) {
  return setup.stripe.checkout.sessions.create({
    mode: 'subscription',
    customer,
    currency,
    adaptive_pricing: { enabled: false },
    line_items: [{ price, quantity: 1 }],
    success_url: 'http://localhost:3000/billing',
  });
}

test('an answer shows the amounts in further currencies only if they are expanded, and an event never does', async () => {
  const { id, currency_options } = await silverPrice();
  expect(currency_options).toBeUndefined();
  const expand = ['currency_options'];
  const price = await setup.stripe.prices.retrieve(id, { expand });
  expect(price.currency_options).toMatchObject({ gbp: { unit_amount: 2400 }, eur: { unit_amount: 2800 } });

  await setup.stripe.prices.update(id, { currency_options: { usd: { unit_amount: 3000 } } });
  const listed = await setup.stripe.prices.list({ limit: 1, expand: ['data.currency_options'] });
  expect(Object.keys(listed.data[0]?.currency_options ?? {}).sort()).toEqual(['eur', 'gbp', 'usd']);
  expect(JSON.stringify(setup.sandbox.payment.events())).not.toContain('currency_options');
});

test('a subscription that is bought in another currency is invoiced in it, and its price still reads in its own', async () => {
  const { id } = await silverPrice();
  const customer = await setup.stripe.customers.create({});
  const session = await open(customer.id, id, 'eur');
  expect(session).toMatchObject({ currency: 'eur', amount_total: 2800, adaptive_pricing: { enabled: false } });
  expect(await (await fetch(session.url as string)).text()).toContain('€28.00 a month');
  await postForm(session.url as string, { card: '4242424242424242' });

  const [subscription] = (await setup.stripe.subscriptions.list({ customer: customer.id })).data;
  expect(subscription).toMatchObject({ currency: 'eur', status: 'active' });
  expect(subscription?.items.data[0]?.price).toMatchObject({ currency: 'gbp', unit_amount: 2400 });
  setup.sandbox.payment.clock.advanceToPeriodEnd();
  setup.sandbox.payment.clock.advance({ hours: 2 });
  const invoices = (await setup.stripe.invoices.list({ customer: customer.id })).data;
  expect(invoices.map(({ currency, total }) => [currency, total])).toEqual([
    ['eur', 2800],
    ['eur', 2800],
  ]);
});

test('a price is sold in its own currencies alone, and a customer has one currency at a time', async () => {
  const { id } = await silverPrice();
  const customer = await setup.stripe.customers.create({});
  await expect(open(customer.id, id, 'usd')).rejects.toMatchObject({ param: 'currency', message: /`gbp`, `eur`/ });

  await postForm((await open(customer.id, id, 'eur')).url as string, { card: '4242424242424242' });
  await expect(open(customer.id, id, 'gbp')).rejects.toMatchObject({ message: /cannot combine currencies/ });
  const [subscription] = (await setup.stripe.subscriptions.list({ customer: customer.id })).data;
  const items = [{ id: subscription?.items.data[0]?.id ?? '', price: 'price_sandbox_gold_monthly' }];
  await expect(setup.stripe.subscriptions.update(subscription?.id ?? '', { items })).rejects.toMatchObject({
    message: /only supports `gbp`/,
  });
});

test('the portal offers at most ten products, and one price of a product for each interval', async () => {
  const configure = (products: { product: string; prices: string[] }[]) =>
    setup.stripe.billingPortal.configurations.create({
      features: { subscription_update: { enabled: true, default_allowed_updates: ['price'], products } },
    });
  const [yearly, monthly] = [await silverPrice('year'), await silverPrice()];
  const product = 'prod_sandbox_silver';
  await configure([{ product, prices: ['price_sandbox_silver_monthly', yearly.id] }]);
  await expect(configure([{ product, prices: ['price_sandbox_silver_monthly', monthly.id] }])).rejects.toMatchObject({
    message: /an interval of their own/,
  });

  const many = await Promise.all(
    Array.from({ length: 11 }, async (_, index) => {
      const price = await setup.stripe.prices.create({
        product_data: { name: `Plan ${index}` },
        currency: 'gbp',
        unit_amount: 100,
        recurring: { interval: 'month' },
      });
      return { product: String(price.product), prices: [price.id] };
    }),
  );
  await configure(many.slice(0, 10));
  await expect(configure(many)).rejects.toMatchObject({ message: /at most 10 products/ });
});
