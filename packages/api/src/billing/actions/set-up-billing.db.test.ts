import { type Sandbox, startSandbox } from '@gatehouse/sandbox/sandbox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiVersion } from '../../platform/providers/payment/account.ts';
import { createPayment } from '../../platform/providers/payment/connection.ts';
import { sandboxIdentity, sandboxPayment, serviceUrl, startTestApp, type TestApp } from '../../testing/app.ts';
import { makeMember, withPrices } from '../../testing/billing.ts';
import { subscribedTypes } from '../events/event-handlers.ts';
import { openPortal } from './open-portal.ts';
import type { BillingApp } from './require-payment.ts';
import { setUpBilling } from './set-up-billing.ts';

let running: TestApp;
let empty: Sandbox;
let app: BillingApp;
beforeAll(async () => {
  running = await startTestApp({ work: false });
  empty = await startSandbox({
    port: 0,
    smtpPort: 0,
    dataDir: null,
    serviceUrl,
    idp: sandboxIdentity,
    payment: { ...sandboxPayment, seeded: false },
  });
  const payment = createPayment({ secretKey: sandboxPayment.secretKey, apiUrl: empty.payment.apiUrl });
  app = { ...running.app, payment };
});
afterAll(async () => {
  await empty.close();
  await running.close();
});

test('creates what is missing once, and does not change what exists', async () => {
  expect(await setUpBilling(app)).toMatch(/^silver: price price_\w+ made\ngold: price price_\w+ made\nportal: /);
  const { products, prices, portal_configurations } = empty.payment.state();
  const count = () => [products, prices, portal_configurations].map((shelf) => Object.keys(shelf).length);
  const made = count();
  expect(Object.values(prices).map(({ lookup_key, unit_amount }) => [lookup_key, unit_amount])).toEqual([
    ['silver_monthly', 2400],
    ['gold_monthly', 7900],
  ]);

  expect(await setUpBilling(app)).toMatch(/^silver: price price_\w+ was there\ngold: price price_\w+ was there\n/);
  expect(count()).toEqual(made);
});

test('the portal’s sessions name its configuration, which offers our prices', async () => {
  await setUpBilling(app);
  const { url } = await openPortal(app, await makeMember(running), {});
  const { portal_sessions, portal_configurations, prices } = empty.payment.state();
  const session = portal_sessions[url.split('/').at(-1) ?? ''];
  const configuration = portal_configurations[session?.configuration ?? ''];
  expect(session?.return_url).toBe(`${serviceUrl}/billing`);
  expect(configuration?.metadata).toEqual({ purpose: 'gatehouse', deployment: serviceUrl });
  expect(configuration?.features.subscription_cancel).toMatchObject({ enabled: true, mode: 'at_period_end' });
  const offered = configuration?.features.subscription_update.products?.flatMap((product) => product.prices);
  expect(offered).toEqual(Object.keys(prices));
});

test('the portal lets people change the card, see their invoices, cancel at the period’s end and change the plan', async () => {
  await setUpBilling(app);
  const [configuration] = Object.values(empty.payment.state().portal_configurations);
  expect(configuration?.features).toMatchObject({
    payment_method_update: { enabled: true },
    invoice_history: { enabled: true },
    subscription_cancel: { enabled: true, mode: 'at_period_end' },
    subscription_update: {
      enabled: true,
      default_allowed_updates: ['price'],
      proration_behavior: 'always_invoice',
    },
  });
});

test('an archived price passes its lookup key to the price that replaces it', async () => {
  await setUpBilling(app);
  const archived = Object.values(empty.payment.state().prices).find(({ lookup_key }) => lookup_key === 'gold_monthly');
  if (archived === undefined) throw new Error('There is no price of the gold plan.');
  archived.active = false;

  expect(await setUpBilling(app)).toMatch(/gold: price price_\w+ made/);
  const named = Object.values(empty.payment.state().prices).filter(({ lookup_key }) => lookup_key === 'gold_monthly');
  expect(named.map(({ id, active }) => [id === archived.id, active])).toEqual([[false, true]]);
});

describe('two deployments in one account', () => {
  const other = () => ({ ...app, config: { ...app.config, publicBaseUrl: 'https://other.example' } });
  const ownKeys = { PAYMENT_PRICE_SILVER: 'other_silver', PAYMENT_PRICE_GOLD: 'other_gold' };

  test('each have their own portal configuration and products', async () => {
    await setUpBilling(app);
    const before = structuredClone(empty.payment.state());
    const apart = await withPrices(other(), ownKeys);
    expect(await setUpBilling(apart)).toMatch(/^silver: price price_\w+ made\ngold: price price_\w+ made\nportal: /);

    const { products, prices, portal_configurations } = empty.payment.state();
    expect(products).toMatchObject(before.products);
    expect(prices).toMatchObject(before.prices);
    expect(portal_configurations).toMatchObject(before.portal_configurations);
    const made = Object.values(products).filter(({ id }) => !(id in before.products));
    expect(made.map(({ metadata }) => metadata.deployment)).toEqual(['https://other.example', 'https://other.example']);
    expect(Object.keys(portal_configurations)).toHaveLength(Object.keys(before.portal_configurations).length + 1);
  });

  test('are warned of a shared price, and neither takes the other’s key', async () => {
    await setUpBilling(app);
    expect(await setUpBilling(other())).toContain(
      `silver: the price silver_monthly was made by ${serviceUrl}. Set PAYMENT_PRICE_SILVER`,
    );
    const sold = Object.values(empty.payment.state().prices).find(({ lookup_key }) => lookup_key === 'silver_monthly');
    if (sold === undefined) throw new Error('There is no price of the silver plan.');
    sold.active = false;
    await expect(setUpBilling(other())).rejects.toThrow(`silver_monthly was made by ${serviceUrl}`);
    expect(sold.lookup_key).toBe('silver_monthly');
    sold.active = true;
  });
});

test('a configured price id that does not exist is refused with a sentence', async () => {
  const wrong = await withPrices(app, { PAYMENT_PRICE_GOLD: 'price_nowhere' });
  await expect(setUpBilling(wrong)).rejects.toThrow('PAYMENT_PRICE_GOLD names the price price_nowhere');
});

describe('the webhook endpoint', () => {
  const url = 'https://id.example.com/webhooks/payment';
  const onWeb = (): BillingApp => ({ ...app, config: { ...app.config, publicBaseUrl: 'https://id.example.com' } });
  const endpoints = () => Object.values(empty.payment.state().webhook_endpoints).filter((each) => each.url === url);
  const secretIn = (report: string) => /^PAYMENT_WEBHOOK_SECRET=(.+)$/m.exec(report)?.[1];
  const stripe = () => app.payment.ask;

  test('is made once, in our version with our types, and its secret is printed that once', async () => {
    const report = await setUpBilling(onWeb());
    expect(report).toMatch(/\nwebhook: endpoint we_\w+ made\nPAYMENT_WEBHOOK_SECRET=\S+$/);
    expect(endpoints()).toMatchObject([{ api_version: apiVersion, enabled_events: subscribedTypes }]);
    expect(endpoints()[0]?.secret).toBe(secretIn(report));
    const again = await setUpBilling(onWeb());
    expect(again).toMatch(/\nwebhook: endpoint we_\w+ was there$/);
    expect(endpoints()).toHaveLength(1);
  });

  test('gets the types that it lacks, and keeps the others', async () => {
    const [made] = endpoints();
    await stripe()((provider) =>
      provider.webhookEndpoints.update(made?.id ?? '', { enabled_events: ['charge.captured', 'invoice.paid'] }),
    );
    const report = await setUpBilling(onWeb());
    expect(report).toContain('checkout.session.completed');
    expect(secretIn(report)).toBeUndefined();
    const enabled = endpoints()[0]?.enabled_events ?? [];
    expect(enabled.toSorted()).toEqual([...subscribedTypes, 'charge.captured'].toSorted());
  });

  test('of another version stays, and one of ours is made beside it', async () => {
    for (const { id } of endpoints()) await stripe()((provider) => provider.webhookEndpoints.del(id));
    await stripe()((provider) =>
      provider.webhookEndpoints.create({ url, enabled_events: ['invoice.paid'], api_version: '2024-06-20' }),
    );
    const [old] = endpoints();
    const report = await setUpBilling(onWeb());
    expect(report).toContain(`beside ${old?.id}, which has another version`);
    expect(endpoints().map(({ api_version }) => api_version)).toEqual(['2024-06-20', apiVersion]);
    expect(endpoints()[0]?.enabled_events).toEqual(['invoice.paid']);
    expect(secretIn(report)).toBe(endpoints()[1]?.secret);
  });

  test('is not made for an address on this machine', async () => {
    const count = Object.keys(empty.payment.state().webhook_endpoints).length;
    expect(await setUpBilling(app)).toMatch(/\nwebhook: none, because the provider cannot reach http:\/\/localhost:/);
    expect(Object.keys(empty.payment.state().webhook_endpoints)).toHaveLength(count);
  });
});
