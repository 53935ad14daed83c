import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import type { Administrator } from '../auth/principal.ts';
import { readPlan } from '../organisations/plan.ts';
import { paymentSubscriptions } from '../platform/db/schema/billing.ts';
import { makeSubscriber, ownedBy, priceOf } from '../testing/billing.ts';
import { useBillingTest } from '../testing/use-billing-test.ts';
import { setCancellation } from './actions/set-cancellation.ts';
import { startCheckout } from './actions/start-checkout.ts';
import { readOverview } from './summary/read-overview.ts';
import { syncSubscription } from './sync/sync.ts';

const billing = useBillingTest({ emptiesProvider: true });

const provider = () => billing.sandbox.payment;
const goodCard = '4242424242424242';
type Subscriber = Awaited<ReturnType<typeof makeSubscriber>>;

/** Expects that row and plan agree with the provider once all events are delivered. */
async function expectProviderState({ principal, subscription }: Subscriber): Promise<void> {
  await billing.settled();
  const [row] = await billing.app.db
    .select()
    .from(paymentSubscriptions)
    .where(eq(paymentSubscriptions.id, subscription.id));
  expect(row).toMatchObject({ status: subscription.status, needsSync: false });
  // The grace of seven days runs from the first past-due event.
  const entitled = ['active', 'trialing', 'past_due'].includes(subscription.status);
  expect((await readPlan(billing.app, principal.organisationId)).tier).toBe(entitled ? 'silver' : 'free');
}

function failRenewal({ subscription }: Subscriber): void {
  provider().setCard(String(subscription.customer), '4000000000000341');
  provider().clock.advanceToPeriodEnd(subscription.id);
}

/** Follows the pages until the plan is active. */
async function buyBack(principal: Administrator): Promise<void> {
  for (let asked = 1; asked < 8; asked++) {
    const answer = await startCheckout(billing.app, principal, { tier: 'silver' }).catch((error: Error) => error);
    if (answer instanceof Error) {
      expect(answer.message).toBe('This organisation is already on the Silver plan.');
      return;
    }
    if (answer.url.includes('/pay/invoice/')) provider().payInvoice(answer.url, goodCard);
    if (answer.url.includes('/pay/checkout/')) provider().payCheckout(answer.url);
    // A plan that a payment resumed after its period's end renews at the provider's next tick, within a second, and
    // that charge fails again: then there is one more invoice to pay. Here it renews at once.
    provider().clock.advance({ seconds: 0 });
    await billing.settled();
  }
  throw new Error('The plan cannot be bought back.');
}

const lives = [
  ['past_due', 'cancel', 'stays_paused'],
  ['past_due', 'unpaid', 'stays_paused'],
  ['past_due', 'past_due', 'stays_paused'],
  ['past_due', 'pause', 'stays_paused'],
  ['past_due', 'pause', 'resumes'],
  ['pause', 'cancel', 'stays_paused'],
  ['pause', 'cancel', 'resumes'],
] as const;

test.each(lives)(
  'a renewal that fails (first %s, at last %s, once paid %s): the plan is right at each step, and can be bought back',
  async (first_failure, dunning_end, paid_while_paused) => {
    provider().set({ first_failure, dunning_end, paid_while_paused });
    const subscriber = await makeSubscriber(billing);
    const { principal, subscription } = subscriber;
    failRenewal(subscriber);
    expect(subscription.status).toBe(first_failure === 'pause' ? 'paused' : 'past_due');
    await expectProviderState(subscriber);

    provider().clock.advance({ days: 16 });
    const last = { cancel: 'canceled', unpaid: 'unpaid', past_due: 'past_due', pause: 'paused' }[dunning_end];
    expect(subscription.status).toBe(first_failure === 'pause' ? 'paused' : last);
    await expectProviderState(subscriber);
    // After another period an unpaid plan has a newer invoice.
    provider().clock.advance({ days: 20 });
    await expectProviderState(subscriber);

    await buyBack(principal);
    const live = ownedBy(billing, principal).subscriptions.filter(({ status }) => status !== 'canceled');
    expect(live.map(({ status }) => status)).toEqual(['active']);
    expect((await readPlan(billing.app, principal.organisationId)).tier).toBe('silver');
  },
);

test.each(['cancel', 'unpaid', 'past_due', 'pause'] as const)(
  'a plan whose dunning ended in %s can be canceled, and nothing is charged after its end',
  async (dunning_end) => {
    provider().set({ dunning_end });
    const subscriber = await makeSubscriber(billing);
    failRenewal(subscriber);
    provider().clock.advance({ days: 16 });
    await billing.settled();
    const { principal, subscription } = subscriber;
    if (dunning_end === 'cancel') {
      await expect(setCancellation(billing.app, principal, { cancel: true })).rejects.toThrow('There is no paid plan.');
    } else {
      const answer = await setCancellation(billing.app, principal, { cancel: true });
      expect(answer.cancel_at_period_end || answer.status === 'canceled').toBe(true);
    }

    provider().clock.advance({ days: 40 });
    expect(subscription.status).toBe('canceled');
    const invoices = ownedBy(billing, principal).invoices.length;
    provider().clock.advance({ days: 70 });
    expect(ownedBy(billing, principal).invoices).toHaveLength(invoices);
    await expectProviderState(subscriber);
  },
);

test('an upgrade that the bank has to confirm has its notice while the plan is active, until it is paid', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  const notice = async () => (await readOverview(billing.app, principal)).notice;
  provider().setCard(String(subscription.customer), '4000002760003184');
  await billing.app.payment.ask((api) =>
    api.subscriptions.update(subscription.id, {
      items: [{ id: subscription.items.data[0]?.id ?? '', price: priceOf(billing, 'gold') }],
      proration_behavior: 'always_invoice',
    }),
  );
  provider().forceStatus(subscription.id, 'active');
  await billing.settled();
  const open = ownedBy(billing, principal).invoices.find(({ status }) => status === 'open');
  const confirmation = { kind: 'action_required', invoice_url: open?.hosted_invoice_url };
  expect(await notice()).toMatchObject(confirmation);
  // An answer of the provider leaves it, because that invoice is the newest one.
  await syncSubscription(billing.app, subscription.id);
  expect(await notice()).toMatchObject(confirmation);

  provider().payInvoice(open?.hosted_invoice_url ?? '', goodCard);
  await billing.settled();
  expect(await notice()).toBeNull();
});

test('a past-due subscription with two open invoices has a notice without an address: the checkout finds the newest', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  provider().set({ dunning_end: 'past_due' });
  failRenewal({ principal, subscription });
  provider().clock.advance({ days: 40 });
  await billing.settled();
  const open = ownedBy(billing, principal).invoices.filter(({ status }) => status === 'open');
  expect([subscription.status, open.length]).toEqual(['past_due', 2]);
  expect((await readOverview(billing.app, principal)).notice).toMatchObject({ invoice_url: null, amount: null });
  const newest = open.toSorted((one, other) => other.created - one.created)[0];
  const { url } = await startCheckout(billing.app, principal, { tier: 'silver' });
  expect(url).toBe(newest?.hosted_invoice_url);
});

test('an invoice that was left open before a later one was paid has no notice, also while the next one is open', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  const subscriber = { principal, subscription };
  const notice = async () => (await readOverview(billing.app, principal)).notice;
  provider().set({ dunning_end: 'unpaid' });
  failRenewal(subscriber);
  provider().clock.advance({ days: 40 });
  await billing.settled();
  expect(await notice()).toMatchObject({ kind: 'payment_failed' });
  await buyBack(principal);
  expect(await notice()).toBeNull();

  await billing.app.payment.ask((api) =>
    api.subscriptions.update(subscription.id, { collection_method: 'send_invoice', days_until_due: 14 }),
  );
  provider().clock.advanceToPeriodEnd(subscription.id);
  await billing.settled();
  const [newest] = ownedBy(billing, principal).invoices.toSorted((one, other) => other.created - one.created);
  expect([subscription.status, newest?.status]).toEqual(['active', 'open']);
  expect(await notice()).toBeNull();
});
