import { eq, ne } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { paymentSettings } from '../../platform/db/schema/billing.ts';
import { createPayment } from '../../platform/providers/payment/connection.ts';
import { withPrices } from '../../testing/billing.ts';
import { runChecks } from './doctor.ts';
import { useDoctorTest, wrongWith } from './testing/use-doctor-test.ts';

const running = useDoctorTest();

describe('the payment provider', () => {
  test('that refuses the key', async () => {
    const apiUrl = running.sandbox.payment.apiUrl;
    const app = { ...running.app, payment: createPayment({ secretKey: 'sk_test_wrong', apiUrl }) };
    expect(await wrongWith(app)).toEqual([expect.stringMatching(/^Payment provider: It refuses the key/)]);
  });

  test('with a key of the other mode', async () => {
    const { payment } = running.app;
    if (payment === null) throw new Error('Billing is off.');
    const found = await wrongWith({ ...running.app, payment: { ...payment, mode: 'live' } });
    expect(found[0]).toMatch(/^Payment provider: The key looks like live mode/);
  });

  test('whose other mode the database belongs to', async () => {
    const { db } = running.app;
    const mode = eq(paymentSettings.name, 'mode');
    await db.update(paymentSettings).set({ value: 'live' }).where(mode);
    expect((await runChecks(running.app)).report).toMatch(
      /^WRONG {2}Payment mode: PAYMENT_SECRET_KEY is of test mode, and this database holds customers of live mode/m,
    );
    await db.update(paymentSettings).set({ value: 'test' }).where(mode);
    expect((await runChecks(running.app)).report).not.toContain('Payment mode');
  });

  test('that does not answer as it should', async () => {
    running.sandbox.payment.set({ api_failure: 500 });
    expect(await wrongWith(running.app)).toEqual([
      expect.stringMatching(/^Payment provider: It does not answer as it should \(500\)/),
    ]);
  });

  test.each([
    [10, 'ahead of'],
    [-10, 'behind'],
  ])('whose clock is %i minutes away', async (minutes, direction) => {
    const now = () => new Date(Date.now() + minutes * 60_000);
    const found = await wrongWith({ ...running.app, now });
    expect(found[0]).toContain(`s ${direction} the payment provider’s`);
  });

  test('whose tax settings are not complete, or whose prices do not say whether tax is in them', async () => {
    const { config } = running.app;
    const app = { ...running.app, config: { ...config, payment: config.payment && { ...config.payment, tax: true } } };
    const taxOf = async () => (await runChecks(app)).report.split('\n').filter((line) => line.includes('  Tax:'));
    expect(await taxOf()).toEqual([expect.stringMatching(/^WRONG .*not complete: head_office/)]);
    running.sandbox.payment.set({ tax_settings: 'active' });
    expect(await taxOf()).toEqual([
      expect.stringMatching(/registered in no country/),
      expect.stringMatching(/^WRONG .*The price of Silver, Gold does not say/),
    ]);
    running.sandbox.payment.registerForTax('GB');
    expect((await taxOf())[0]).toMatch(/^right .*It is computed in GB/);
    expect(await wrongWith(app)).toContainEqual(expect.stringMatching(/^Portal: .*address and tax number/));
  });

  test('that does not sell a tier', async () => {
    const app = await withPrices(running.app, { PAYMENT_PRICE_GOLD: 'nobody_sells_this' });
    expect(await wrongWith(app)).toEqual([
      expect.stringMatching(/^Price of Gold: .*billing-setup.*PAYMENT_PRICE_GOLD/),
    ]);
  });

  test('whose portal was never configured, is not known, or lacks what it should offer', async () => {
    const configured = await running.app.db.select().from(paymentSettings);
    const id = configured.find(({ value }) => value.startsWith('bpc_'))?.value ?? '';
    const configuration = running.sandbox.payment.state().portal_configurations[id];
    if (configuration === undefined) throw new Error('The portal has no configuration.');
    configuration.features.subscription_cancel.enabled = false;
    const lacking = await wrongWith(running.app);
    configuration.features.subscription_cancel.enabled = true;
    configuration.features.invoice_history.enabled = false;
    const withoutHistory = await wrongWith(running.app);
    configuration.features.invoice_history.enabled = true;
    configuration.features.subscription_update.proration_behavior = 'create_prorations';
    const givenAway = await wrongWith(running.app);
    configuration.features.subscription_update.proration_behavior = 'always_invoice';

    configuration.features.subscription_pause.enabled = true;
    const pausing = await wrongWith(running.app);
    configuration.features.subscription_pause.enabled = false;

    await running.app.db.update(paymentSettings).set({ value: 'bpc_nowhere' }).where(ne(paymentSettings.name, 'mode'));
    const unknown = await wrongWith(running.app);
    await running.app.db.delete(paymentSettings).where(ne(paymentSettings.name, 'mode'));
    const never = await wrongWith(running.app);
    await running.app.db.insert(paymentSettings).values(configured).onConflictDoNothing();

    expect(lacking).toEqual([expect.stringMatching(/^Portal: .* cannot be cancelled .*billing-setup/)]);
    expect(withoutHistory).toEqual([expect.stringMatching(/^Portal: .* past invoices cannot be seen.*billing-setup/)]);
    expect(givenAway).toEqual([expect.stringMatching(/^Portal: .* upgrade is not charged .*billing-setup/)]);
    expect(pausing).toEqual([expect.stringMatching(/^Portal: .* subscriptions can be paused.*billing-setup/)]);
    expect(unknown).toEqual([expect.stringMatching(/^Portal: The provider does not know the configuration/)]);
    expect(never).toEqual([expect.stringMatching(/^Portal: It was never configured from here/)]);
    expect(await wrongWith(running.app)).toEqual([]);
  });
});

describe('the webhook', () => {
  test('without a secret', async () => {
    expect(await wrongWith(running.withConfig({ webhookSecrets: [] }))).toEqual([
      expect.stringMatching(/^Webhook secret: PAYMENT_WEBHOOK_SECRET is not set/),
    ]);
  });

  test('whose secret the running service does not have', async () => {
    expect(await wrongWith(running.withConfig({ webhookSecrets: ['another_secret'] }))).toEqual([
      expect.stringMatching(/^Webhook secret: .* refuses what is signed with it \(400\)/),
    ]);
  });

  test('whose endpoint the provider lacks, has switched off, or gives too little', async () => {
    const { webhook_endpoints } = running.sandbox.payment.state();
    const [endpoint] = Object.values(webhook_endpoints);
    if (endpoint === undefined) throw new Error('There is no endpoint.');
    const { url, status, enabled_events } = endpoint;

    endpoint.url = 'https://elsewhere.example/webhooks';
    const lacking = await wrongWith(running.app);
    Object.assign(endpoint, { url, status: 'disabled' });
    const off = await wrongWith(running.app);
    Object.assign(endpoint, { status, enabled_events: ['invoice.paid'] });
    const little = await wrongWith(running.app);
    endpoint.enabled_events = enabled_events;

    expect(lacking).toEqual([expect.stringMatching(/^Webhook endpoint: The provider sends no events to /)]);
    expect(off).toEqual([expect.stringMatching(/^Webhook endpoint: The provider has switched /)]);
    expect(little).toEqual([
      expect.stringMatching(/^Webhook endpoint: .* does not get .*customer\.subscription\.deleted/),
    ]);
  });

  test('with thin payloads, which are reported by the name of their destination', async () => {
    const { payment } = running.sandbox;
    const [endpoint] = Object.values(payment.state().webhook_endpoints);
    payment.addThinDestination({ name: 'Elsewhere', url: 'https://elsewhere.example/webhooks' });
    expect(await wrongWith(running.app)).toEqual([]);
    const { id } = payment.addThinDestination({ name: 'From the dashboard', url: endpoint?.url ?? '' });
    expect(await wrongWith(running.app)).toEqual([
      expect.stringMatching(/^Webhook payloads: “From the dashboard” sends thin .* Choose snapshot payloads\.$/),
    ]);
    Object.assign(payment.state().thin_destinations[id] ?? {}, { status: 'disabled' });
    expect(await wrongWith(running.app)).toEqual([]);
  });
});
