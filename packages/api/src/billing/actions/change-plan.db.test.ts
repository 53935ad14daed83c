import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Administrator } from '../../auth/principal.ts';
import { readPlan } from '../../organisations/plan.ts';
import { paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { makeSubscriber, ownedBy, priceOf } from '../../testing/billing.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { refreshPrices } from '../prices/live-prices.ts';
import { markedForSync } from '../subscription/newer-state.ts';
import { readRow } from '../subscription/subscription-rows.ts';
import { readOverview } from '../summary/read-overview.ts';
import { requirePayment } from './require-payment.ts';
import { setCancellation } from './set-cancellation.ts';
import { startCheckout } from './start-checkout.ts';

const billing = useBillingTest({ emptiesProvider: true });

const provider = () => billing.sandbox.payment;
const ask = () => requirePayment(billing.app).ask;
const choose = async (principal: Administrator, tier: 'silver' | 'gold') =>
  (await startCheckout(billing.app, principal, { tier })).url;
const billingPage = 'http://localhost:3999/billing';
const goodCard = '4242424242424242';
const declinesLater = '4000000000000341';
type Subscription = Awaited<ReturnType<typeof makeSubscriber>>['subscription'];

const notice = async (principal: Administrator) => (await readOverview(billing.app, principal)).notice;

async function tier(principal: Administrator & { organisationId: string }) {
  await billing.settled();
  return (await readPlan(billing.app, principal.organisationId)).tier;
}

function invoicesOf(principal: Administrator) {
  return ownedBy(billing, principal).invoices.toSorted((one, other) => one.created - other.created);
}

/** Returns the kind of portal page that an address opens; undefined if it is not a portal session. */
function portalFlow(url: string): string | null | undefined {
  const session = provider().state().portal_sessions[url.split('/').at(-1) ?? ''];
  return session && (session.flow?.type ?? null);
}

/** Makes a renewal fail, and advances the clock by a number of days. */
function failRenewal(subscription: Subscription, days = 0): void {
  provider().setCard(String(subscription.customer), declinesLater);
  provider().clock.advanceToPeriodEnd(subscription.id);
  if (days > 0) provider().clock.advance({ days });
}

test('a subscription with several items opens the portal, because the provider has no page that changes it', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  const price = await ask()((api) =>
    api.prices.create({
      currency: 'gbp',
      unit_amount: 500,
      recurring: { interval: 'month' },
      product_data: { name: 'Support' },
    }),
  );
  await ask()((api) => api.subscriptionItems.create({ subscription: subscription.id, price: price.id }));
  expect(portalFlow(await choose(principal, 'gold'))).toBeNull();
});

test('while a change is scheduled another plan is refused until the planned one is given up', async () => {
  const { principal, subscription } = await makeSubscriber(billing, 'gold');
  provider().scheduleChange(subscription.id, priceOf(billing, 'silver'));
  await billing.settled();
  const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', timeZone: 'UTC' }).format(
    1000 * Number(subscription.items.data[0]?.current_period_end),
  );
  const pending = `Gold changes to Silver on ${day}. Keep Gold to choose another plan.`;
  await expect(choose(principal, 'silver')).rejects.toThrow(pending);
  await expect(choose(principal, 'gold')).rejects.toThrow('This organisation is already on the Gold plan.');

  await setCancellation(billing.app, principal, { cancel: false });
  expect(subscription.schedule).toBeNull();
  expect(portalFlow(await choose(principal, 'silver'))).toBe('subscription_update_confirm');
});

test('a change that was given up refuses no other plan, also while events keep the provider’s answer out of the row', async () => {
  const { principal, subscription } = await makeSubscriber(billing, 'gold');
  provider().scheduleChange(subscription.id, priceOf(billing, 'silver'));
  await billing.settled();
  provider().set({ drop_deliveries: true });
  await ask()((api) => api.subscriptionSchedules.release(String(subscription.schedule)));

  const { id } = subscription;
  const stored = new Set<string | null | undefined>();
  const payment = requirePayment(billing.app);
  const askBesideEvents: typeof payment.ask = async (act, limits) => {
    stored.add((await readRow(billing.app.db, id))?.nextTier);
    const answer = await payment.ask(act, limits);
    await billing.app.db.update(paymentSubscriptions).set(markedForSync).where(eq(paymentSubscriptions.id, id));
    return answer;
  };
  const app = { ...billing.app, payment: { ...payment, ask: askBesideEvents } };
  const { url } = await startCheckout(app, principal, { tier: 'silver' });
  expect(portalFlow(url)).toBe('subscription_update_confirm');
  expect([...stored]).toEqual(['silver']);
});

describe('an unpaid subscription', () => {
  test('is reactivated by the page that checkout leads to: its newest invoice, even if it was a draft', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    provider().set({ dunning_end: 'unpaid' });
    failRenewal(subscription, 40);
    expect(subscription.status).toBe('unpaid');
    const [, old, newest] = invoicesOf(principal);
    expect([old?.status, newest?.status]).toEqual(['open', 'draft']);
    await billing.settled();
    // The page's button asks for a checkout, because the address of the old invoice would revive nothing.
    expect(await notice(principal)).toMatchObject({ kind: 'payment_failed', invoice_url: null, amount: null });

    const url = await choose(principal, 'silver');
    expect(newest).toMatchObject({ status: 'open', hosted_invoice_url: url, auto_advance: false });
    expect(await choose(principal, 'silver')).toBe(url);
    provider().payInvoice(url, goodCard);
    expect(subscription.status).toBe('active');
    expect(await tier(principal)).toBe('silver');
    // The old invoice stays open, and the plan does not depend on it.
    expect(old?.status).toBe('open');
    expect(await notice(principal)).toBeNull();
  });

  test('is ended where another tier is chosen, whose checkout then opens: the old debt is not to be paid for it', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    provider().set({ dunning_end: 'unpaid' });
    failRenewal(subscription, 40);
    const url = await choose(principal, 'gold');
    expect(subscription.status).toBe('canceled');
    provider().payCheckout(url);
    expect(await tier(principal)).toBe('gold');
    expect(invoicesOf(principal).at(-1)).toMatchObject({ status: 'paid', amount_paid: 7900 });
  });

  test('whose newest invoice is uncollectible is reactivated by that invoice, never by an older one', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    provider().set({ dunning_end: 'unpaid' });
    failRenewal(subscription, 40);
    await choose(principal, 'silver');
    const newest = invoicesOf(principal).at(-1);
    await ask()((api) => api.invoices.markUncollectible(newest?.id ?? ''));
    expect(await choose(principal, 'silver')).toBe(newest?.hosted_invoice_url);
  });

  test('whose newest invoice is finalised concurrently still leads to it', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    provider().set({ dunning_end: 'unpaid' });
    failRenewal(subscription, 40);
    const newest = invoicesOf(principal).at(-1);
    provider().failNext('close', { count: 1, only: `POST /v1/invoices/${newest?.id}/finalize`, afterEffect: true });
    expect(await choose(principal, 'silver')).toBe(newest?.hosted_invoice_url);
  });
});

test('a subscription that is past due leads to its newest open invoice, and a draft is not changed', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  provider().set({ dunning_end: 'past_due' });
  failRenewal(subscription, 20);
  provider().clock.advanceTo(subscription.items.data[0]?.current_period_end ?? 0);
  const [, open, draft] = invoicesOf(principal);
  expect([open?.status, draft?.status]).toEqual(['open', 'draft']);
  expect(await choose(principal, 'gold')).toBe(open?.hosted_invoice_url);
  expect(draft?.status).toBe('draft');
});

describe('a subscription that a failed payment paused', () => {
  async function paused(after: 'first' | 'final') {
    const made = await makeSubscriber(billing);
    provider().set(after === 'first' ? { first_failure: 'pause' } : { dunning_end: 'pause' });
    failRenewal(made.subscription, after === 'first' ? 0 : 16);
    expect(made.subscription.status_details?.paused.subscription.type).toBe(`${after}_payment_failure`);
    expect(await tier(made.principal)).toBe('free');
    return made;
  }

  test.each(['first', 'final'] as const)(
    'after the %s failure leads to its open invoice, and once that is paid it is resumed at no further cost',
    async (after) => {
      const { principal, subscription } = await paused(after);
      const open = invoicesOf(principal).find(({ status }) => status === 'open');
      const url = await choose(principal, 'silver');
      expect(url).toBe(open?.hosted_invoice_url);

      provider().payInvoice(url, goodCard);
      expect(subscription.status).toBe('paused');
      const count = invoicesOf(principal).length;
      const end = subscription.items.data[0]?.current_period_end;
      expect(await choose(principal, 'silver')).toBe(billingPage);
      expect(subscription).toMatchObject({ status: 'active' });
      expect(subscription.items.data[0]?.current_period_end).toBe(end);
      expect(invoicesOf(principal)).toHaveLength(count);
      // No event has arrived: the provider's answer is stored immediately.
      expect((await readPlan(billing.app, principal.organisationId)).tier).toBe('silver');
    },
  );

  test('is resumed first where another tier is chosen, and then changed in place', async () => {
    const { principal, subscription } = await paused('final');
    provider().payInvoice(await choose(principal, 'gold'), goodCard);
    const url = await choose(principal, 'gold');
    expect(subscription.status).toBe('active');
    expect(portalFlow(url)).toBe('subscription_update_confirm');
    expect(ownedBy(billing, principal).subscriptions).toHaveLength(1);
  });

  test('is active once its invoice is paid, if the provider’s settings resume it', async () => {
    const { principal } = await paused('final');
    provider().set({ paid_while_paused: 'resumes' });
    provider().payInvoice(await choose(principal, 'silver'), goodCard);
    expect(await tier(principal)).toBe('silver');
    await expect(choose(principal, 'silver')).rejects.toThrow('This organisation is already on the Silver plan.');
  });
});

describe('a subscription that was paused on request', () => {
  async function paused(days: number, card = goodCard) {
    const made = await makeSubscriber(billing);
    await ask()((api) =>
      api.subscriptions.pause(made.subscription.id, { bill_for: { unused_time_from: { type: 'none' } } }),
    );
    provider().setCard(String(made.subscription.customer), card);
    if (days > 0) provider().clock.advance({ days });
    expect(await tier(made.principal)).toBe('free');
    return made;
  }

  test.each([0, 45])('is resumed, after %i days', async (days) => {
    const { principal, subscription } = await paused(days);
    expect(await choose(principal, 'silver')).toBe(billingPage);
    expect(subscription.status).toBe('active');
    expect(await tier(principal)).toBe('silver');
  });

  test('is not resumed for another plan that is not on sale', async () => {
    const { principal, subscription } = await paused(45);
    const gold = Object.values(provider().state().prices).filter(({ lookup_key }) => lookup_key === 'gold_monthly');
    for (const price of gold) price.active = false;
    await refreshPrices(billing.app);
    const count = invoicesOf(principal).length;
    await expect(choose(principal, 'gold')).rejects.toMatchObject({ code: 'VALIDATION' });
    expect(subscription.status).toBe('paused');
    expect(invoicesOf(principal)).toHaveLength(count);
    for (const price of gold) price.active = true;
    await refreshPrices(billing.app);
  });

  test('whose resumption the card refuses leads to the invoice of the resumption, each time', async () => {
    const { principal, subscription } = await paused(45, declinesLater);
    const url = await choose(principal, 'silver');
    expect(subscription.status).toBe('paused');
    expect(url).toBe(invoicesOf(principal).find(({ status }) => status === 'open')?.hosted_invoice_url);
    expect(await choose(principal, 'gold')).toBe(url);
    provider().payInvoice(url, goodCard);
    expect(await tier(principal)).toBe('silver');
  });

  test('that the provider refuses to resume leads to a new card', async () => {
    const { principal, subscription } = await paused(0);
    provider().failNext(402, { count: 1, only: `POST /v1/subscriptions/${subscription.id}/resume` });
    expect(portalFlow(await choose(principal, 'silver'))).toBe('payment_method_update');
  });

  test('whose resumption succeeded but whose answer was lost is found active by the next request', async () => {
    const { principal, subscription } = await paused(0);
    const only = `POST /v1/subscriptions/${subscription.id}/resume`;
    provider().failNext('close', { count: 4, only, afterEffect: true });
    await expect(choose(principal, 'silver')).rejects.toMatchObject({ code: 'PROVIDER_UNAVAILABLE' });
    provider().resetSwitches();
    await expect(choose(principal, 'silver')).rejects.toThrow('already on the Silver plan');
    expect(await tier(principal)).toBe('silver');
  });
});

test('a trial that ended without a card leads to a new card, and with one it is resumed before the event says so', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  await ask()((api) => api.subscriptions.cancel(subscription.id));
  const customer = String(subscription.customer);
  const trial = await ask()((api) =>
    api.subscriptions.create({
      customer,
      items: [{ price: subscription.items.data[0]?.price.id ?? '' }],
      trial_period_days: 7,
      trial_settings: { end_behavior: { missing_payment_method: 'pause' } },
    }),
  );
  provider().clock.advance({ days: 8 });
  expect(provider().state().subscriptions[trial.id]?.status).toBe('paused');
  const url = await choose(principal, 'silver');
  expect(portalFlow(url)).toBe('payment_method_update');

  // Its event resumes the trial too, and then Silver is the current plan.
  billing.deliveriesAre(() => 'refused');
  provider().portal(url).changeCard(goodCard);
  expect(await choose(principal, 'silver')).toBe(billingPage);
  billing.deliveriesAre(() => 'answered');
  expect(await tier(principal)).toBe('silver');
});

test.each(['system', 'unknown_reason', null])(
  'a pause for the reason %j leads to a plain portal session',
  async (type) => {
    const { principal, subscription } = await makeSubscriber(billing);
    provider().forceStatus(subscription.id, 'paused');
    const transitioned_at = provider().clock.now();
    if (type !== null) {
      subscription.status_details = { paused: { subscription: { type }, transitioned_at, type: 'subscription' } };
    }
    expect(portalFlow(await choose(principal, 'silver'))).toBeNull();
    expect(subscription.status).toBe('paused');
  },
);

describe('a subscription whose schedule makes no further change', () => {
  test('is changed in place after a lower plan has begun: the schedule is released first', async () => {
    const { principal, subscription } = await makeSubscriber(billing, 'gold');
    provider().scheduleChange(subscription.id, priceOf(billing, 'silver'));
    provider().clock.advanceToPeriodEnd(subscription.id);
    expect(await tier(principal)).toBe('silver');
    expect(subscription.schedule).not.toBeNull();
    expect((await readOverview(billing.app, principal)).plan.change).toBeNull();

    const url = await choose(principal, 'gold');
    expect(portalFlow(url)).toBe('subscription_update_confirm');
    expect(subscription.schedule).toBeNull();
    provider().portal(url).changePlan(subscription.id, priceOf(billing, 'gold'));
    expect(await tier(principal)).toBe('gold');
    expect(ownedBy(billing, principal).subscriptions).toHaveLength(1);
  });

  test('leads to a plain portal session where the key may not release it, and no second one is created', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    await ask()((api) => api.subscriptionSchedules.create({ from_subscription: subscription.id }));
    provider().failNext(403, { only: 'POST /v1/subscription_schedules' });
    expect(portalFlow(await choose(principal, 'gold'))).toBeNull();
    expect(subscription.schedule).not.toBeNull();
    expect(ownedBy(billing, principal).subscriptions).toHaveLength(1);
  });
});
