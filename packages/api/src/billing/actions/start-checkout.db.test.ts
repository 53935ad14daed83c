import { describe, expect, test } from 'vitest';
import type { Administrator } from '../../auth/principal.ts';
import { makeMember, makeSecond, makeSubscriber, ownedBy, withPatience } from '../../testing/billing.ts';
import { interrupted } from '../../testing/payment/interrupted.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { readSubscription } from '../summary/read-subscription.ts';
import { openPortal } from './open-portal.ts';
import { requirePayment } from './require-payment.ts';
import { setCancellation } from './set-cancellation.ts';
import { startCheckout } from './start-checkout.ts';

const billing = useBillingTest();
const choose = (principal: Administrator, tier: unknown) => startCheckout(billing.app, principal, { tier });
const buy = (principal: Administrator, tier = 'silver') => choose(principal, tier);
const provider = () => billing.sandbox.payment;
const plan = async (principal: Administrator) => (await readSubscription(billing.app, principal)).plan;

describe('checkout', () => {
  test('leads to the provider’s page, and only its events give the paid tier', async () => {
    const principal = await makeMember(billing);
    const { url } = await buy(principal, ' silver ');
    expect(url).toMatch(/^http/);

    const [session] = ownedBy(billing, principal).sessions;
    expect(session).toMatchObject({
      client_reference_id: principal.organisationId,
      metadata: { organisation: principal.organisationId, tier: 'silver' },
      success_url: 'http://localhost:3999/billing?checkout=success',
      cancel_url: 'http://localhost:3999/billing?checkout=cancel',
    });
    expect(await plan(principal)).toMatchObject({ tier: 'free', status: 'none' });

    provider().payCheckout(url);
    await billing.settled();
    expect(await plan(principal)).toMatchObject({ tier: 'silver', status: 'active', cancel_at_period_end: false });
    expect(ownedBy(billing, principal).subscriptions[0]?.metadata).toEqual({
      organisation: principal.organisationId,
      tier: 'silver',
    });
  });

  test.each([undefined, null, 7, {}, '', 'free', 'platinum', 'SILVER', 'constructor'])(
    'refuses the tier %j',
    async (tier) => {
      await expect(choose(await makeMember(billing), tier)).rejects.toMatchObject({
        code: 'VALIDATION',
        message: 'Choose the Silver or Gold plan.',
      });
    },
  );

  test('fifty concurrent requests create one customer, one open session and one address', async () => {
    const principal = await makeMember(billing);
    const urls = await Promise.all(
      Array.from({ length: 50 }, () => startCheckout(withPatience(billing.app), principal, { tier: 'silver' })),
    );
    expect(new Set(urls.map(({ url }) => url)).size).toBe(1);
    expect(ownedBy(billing, principal).customers).toHaveLength(1);
    expect(ownedBy(billing, principal).sessions).toHaveLength(1);
  });

  test('another tier expires the open session and opens one for its own price', async () => {
    const principal = await makeMember(billing);
    const silver = await buy(principal, 'silver');
    const gold = await buy(principal, 'gold');
    expect(gold.url).not.toBe(silver.url);
    expect(ownedBy(billing, principal).sessions.map(({ status }) => status)).toEqual(['expired', 'open']);
  });

  test('a session that is paid while another tier is chosen creates no second subscription', async () => {
    const principal = await makeMember(billing);
    const { url } = await buy(principal, 'silver');
    // The first answer is the list of the open sessions.
    const app = interrupted(billing.app, 1, () => provider().payCheckout(url));
    await startCheckout(app, principal, { tier: 'gold' }).catch(() => null);
    await billing.settled();
    const open = ownedBy(billing, principal).sessions.filter(({ status }) => status === 'open');
    expect([ownedBy(billing, principal).subscriptions.length, open.length]).toEqual([1, 0]);
  });

  test('another tier is refused while the end is scheduled: it would be paid and still end on the old date', async () => {
    const { principal } = await makeSubscriber(billing);
    await setCancellation(billing.app, principal, { cancel: true });
    await expect(buy(principal, 'gold')).rejects.toMatchObject({
      code: 'VALIDATION',
      message: 'The Silver plan is set to end. Resume it to change it.',
    });
  });

  test('the same tier is refused, with another sentence while its end is scheduled', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    await expect(buy(principal)).rejects.toMatchObject({
      code: 'VALIDATION',
      message: 'This organisation is already on the Silver plan.',
    });

    provider()
      .portal((await openPortal(billing.app, principal, {})).url)
      .cancel(subscription.id);
    await expect(buy(principal)).rejects.toMatchObject({
      message: 'The Silver plan is set to end. Resume it to keep it.',
    });
  });

  test('the tier of any of several live subscriptions is refused, so that no second one is created', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const gold = await makeSecond(billing, subscription.customer, 'gold');
    await billing.settled();
    await expect(buy(principal, 'silver')).rejects.toThrow('This organisation is already on the Silver plan.');
    await expect(buy(principal, 'gold')).rejects.toThrow('This organisation is already on the Gold plan.');

    const portal = provider().portal((await openPortal(billing.app, principal, {})).url);
    portal.cancel(subscription.id);
    await expect(buy(principal, 'silver')).rejects.toThrow('The Silver plan is set to end. Resume it to keep it.');

    const another = await makeSecond(billing, subscription.customer, 'silver');
    await expect(buy(principal, 'silver')).rejects.toThrow('This organisation is already on the Silver plan.');
    for (const { id } of [subscription, another]) provider().forceStatus(id, 'canceled');
    const { url } = await buy(principal, 'silver');
    const session = provider().state().portal_sessions[url.split('/').at(-1) ?? ''];
    expect(session?.flow?.subscription_update_confirm?.subscription).toBe(gold.id);
  });

  test('another tier changes the plan in place: one subscription', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const { url } = await buy(principal, 'gold');
    const session = provider().state().portal_sessions[url.split('/').at(-1) ?? ''];
    expect(session?.flow?.type).toBe('subscription_update_confirm');

    const price = session?.flow?.subscription_update_confirm?.items[0]?.price ?? '';
    provider().portal(url).changePlan(subscription.id, price);
    await billing.settled();
    expect(await plan(principal)).toMatchObject({ tier: 'gold', status: 'active' });
    expect(ownedBy(billing, principal).subscriptions).toHaveLength(1);
  });

  test('a session that is still open beside a live plan is expired, so that no plan is paid twice', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const price = subscription.items.data[0]?.price.id ?? '';
    await requirePayment(billing.app).ask((api) =>
      api.checkout.sessions.create({
        mode: 'subscription',
        customer: String(subscription.customer),
        line_items: [{ price, quantity: 1 }],
        success_url: 'http://localhost:3999/',
      }),
    );
    await buy(principal, 'gold');
    expect(ownedBy(billing, principal).sessions.map(({ status }) => status)).toEqual(['complete', 'expired']);
  });

  test('a portal that refuses the flow opens without it', async () => {
    const { principal } = await makeSubscriber(billing);
    provider().set({ portal_refuses_flows: true });
    const { url } = await buy(principal, 'gold');
    expect(provider().state().portal_sessions[url.split('/').at(-1) ?? '']?.flow).toBeNull();
  });

  test.each(['unpaid', 'past_due', 'incomplete'])(
    '%s leads to the open invoice, without one to a new card',
    async (status) => {
      const { principal, subscription } = await makeSubscriber(billing);
      provider().forceStatus(subscription.id, status);
      const card = await buy(principal, 'silver');
      expect(provider().state().portal_sessions[card.url.split('/').at(-1) ?? '']?.flow?.type).toBe(
        'payment_method_update',
      );

      const invoice = Object.values(provider().state().invoices).find(
        ({ customer }) => customer === subscription.customer,
      );
      if (invoice === undefined) throw new Error('no invoice');
      invoice.status = 'open';
      expect((await buy(principal, 'silver')).url).toBe(invoice.hosted_invoice_url);
    },
  );

  test('an unknown status counts as live', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    provider().forceStatus(subscription.id, 'on_holiday');
    await expect(buy(principal)).rejects.toThrow('already on the Silver plan');
    await billing.settled();
    expect(await plan(principal)).toMatchObject({ tier: 'free', status: 'on_holiday' });
  });

  test('a tier that the provider has no price for cannot be bought', async () => {
    const prices = Object.values(provider().state().prices).filter(({ lookup_key }) => lookup_key === 'gold_monthly');
    for (const price of prices) price.active = false;
    await expect(buy(await makeMember(billing), 'gold')).rejects.toMatchObject({
      code: 'VALIDATION',
      message: 'This plan cannot be bought at the moment.',
    });
    for (const price of prices) price.active = true;
  });

  test('after an end it can be bought again', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    provider().forceStatus(subscription.id, 'canceled');
    await billing.settled();
    provider().payCheckout((await buy(principal, 'gold')).url);
    await billing.settled();
    expect(await plan(principal)).toMatchObject({ tier: 'gold', status: 'active' });
  });
});

describe('the customer', () => {
  test('whose first answer was lost is the same in the next request', async () => {
    const principal = await makeMember(billing);
    provider().failNext('close', { count: 4, only: 'POST /v1/customers', afterEffect: true });
    await expect(buy(principal)).rejects.toMatchObject({ code: 'PROVIDER_UNAVAILABLE' });
    provider().resetSwitches();
    await buy(principal);
    expect(ownedBy(billing, principal).customers).toHaveLength(1);
  });

  test('whose idempotency key met a failure of the provider is created under the next key', async () => {
    const principal = await makeMember(billing);
    provider().failNext(500, { count: 2, only: 'POST /v1/customers' });
    await expect(buy(principal)).rejects.toMatchObject({ code: 'PROVIDER_UNAVAILABLE' });
    await buy(principal);
    const keys = Object.keys(provider().state().saved_answers).filter((key) =>
      key.includes(String(principal.organisationId)),
    );
    expect(keys.some((key) => key.includes(`customer:${principal.organisationId}:2`))).toBe(true);
  });

  test('that the provider has deleted is replaced, once', async () => {
    const principal = await makeMember(billing);
    await buy(principal);
    const {
      customers: [first],
      sessions,
    } = ownedBy(billing, principal);
    for (const { id } of sessions) delete provider().state().checkout_sessions[id];
    provider().set({ drop_deliveries: true });
    await requirePayment(billing.app).ask((api) => api.customers.del(first?.id ?? ''));
    await buy(principal);
    expect(ownedBy(billing, principal).customers).toHaveLength(1);
    expect(ownedBy(billing, principal).customers[0]?.id).not.toBe(first?.id);
  });
});
