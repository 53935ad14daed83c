import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Administrator } from '../auth/principal.ts';
import { readPlan } from '../organisations/plan.ts';
import { troubleOf } from '../platform/providers/payment/subscription-details.ts';
import { makeMember, makeSubscriber, ownedBy } from '../testing/billing.ts';
import { useBillingTest } from '../testing/use-billing-test.ts';
import { setCancellation } from './actions/set-cancellation.ts';
import { startCheckout } from './actions/start-checkout.ts';
import { readOverview } from './summary/read-overview.ts';

const billing = useBillingTest({
  emptiesProvider: true,
  environment: { PAYMENT_METHODS: 'card,bacs_debit' },
});
const provider = () => billing.sandbox.payment;
const declinesLater = '4000000000000341';
const bounces = '33333335';

type Owner = Administrator & { organisationId: string };
const choose = async (principal: Owner, tier: string) => (await startCheckout(billing.app, principal, { tier })).url;
async function tierOf({ organisationId }: Owner) {
  await billing.settled();
  return (await readPlan(billing.app, organisationId)).tier;
}
const cancelEndsNow = async (principal: Owner, app = billing.app) =>
  (await readOverview(app, principal)).plan.cancel_ends_now;
const newest = (principal: Owner) =>
  ownedBy(billing, principal)
    .invoices.toSorted((one, other) => one.created - other.created)
    .at(-1);

async function makeDebtor() {
  const made = await makeSubscriber(billing, 'gold');
  provider().setCard(String(made.subscription.customer), declinesLater);
  provider().clock.advanceToPeriodEnd(made.subscription.id);
  return made;
}

describe('a first debit that bounces', () => {
  async function makeBounced() {
    const principal = await makeMember(billing);
    provider().payCheckout(await choose(principal, 'silver'), bounces);
    expect(await tierOf(principal)).toBe('silver');
    provider().clock.advance({ days: 6 });
    const [subscription] = ownedBy(billing, principal).subscriptions;
    expect(subscription?.status).toBe('active');
    return { principal, subscription };
  }

  test('gives no plan, though the subscription stays active', async () => {
    const { principal } = await makeBounced();
    expect(await tierOf(principal)).toBe('free');
  });

  test('is ended by the next checkout, so that the plan can be bought anew', async () => {
    const { principal, subscription } = await makeBounced();
    await tierOf(principal);
    provider().payCheckout(await choose(principal, 'silver'));
    expect(subscription?.status).toBe('canceled');
    expect(await tierOf(principal)).toBe('silver');
  });

  test('is ended at once by cancel: the end of a period that nobody paid means nothing', async () => {
    const { principal, subscription } = await makeBounced();
    await tierOf(principal);
    expect(await cancelEndsNow(principal)).toBe(true);
    expect(await setCancellation(billing.app, principal, { cancel: true })).toMatchObject({ status: 'canceled' });
    expect(subscription?.status).toBe('canceled');
  });
});

describe('writing off a debt', () => {
  test('does not give the plan back, and checkout leads to its invoice', async () => {
    const { principal, subscription } = await makeDebtor();
    expect(await tierOf(principal)).toBe('gold');
    const debt = newest(principal);
    provider().markUncollectible(debt?.id ?? '');
    expect(subscription.status).toBe('active');
    expect(await tierOf(principal)).toBe('free');

    const url = await choose(principal, 'gold');
    expect(url).toBe(debt?.hosted_invoice_url);
    provider().payInvoice(url, '4242424242424242');
    expect(await tierOf(principal)).toBe('gold');
  });

  test('leads to its invoice also while the next one is a draft, which the provider goes on to charge', async () => {
    const { principal, subscription } = await makeDebtor();
    const debt = newest(principal);
    provider().markUncollectible(debt?.id ?? '');
    provider().clock.advanceTo(subscription.items.data[0]?.current_period_end ?? 0);
    await billing.settled();
    const draft = newest(principal);
    expect(draft?.status).toBe('draft');
    expect(await choose(principal, 'gold')).toBe(debt?.hosted_invoice_url);
    expect(draft).toMatchObject({ status: 'draft', auto_advance: true });
  });

  test('lets the page’s button ask for a checkout, not lead to an older invoice that gives no plan back', async () => {
    provider().set({ dunning_end: 'past_due' });
    const { principal, subscription } = await makeDebtor();
    provider().clock.advance({ days: 32 });
    provider().markUncollectible(newest(principal)?.id ?? '');
    await billing.settled();
    expect(subscription.status).toBe('active');
    const { plan, notice } = await readOverview(billing.app, principal);
    expect(plan).toMatchObject({ held: 'uncollectible', cancel_ends_now: true });
    expect(notice).toMatchObject({ invoice_url: null });
  });
});

test('a later invoice that is voided as goodwill takes nothing away', async () => {
  const { principal, subscription } = await makeDebtor();
  provider().voidInvoice(newest(principal)?.id ?? '');
  expect(subscription.status).toBe('active');
  expect(await tierOf(principal)).toBe('gold');
});

test('an unpaid subscription is ended at once by cancel', async () => {
  provider().set({ dunning_end: 'unpaid' });
  const { principal, subscription } = await makeDebtor();
  provider().clock.advance({ days: 40 });
  await tierOf(principal);
  expect(subscription.status).toBe('unpaid');
  expect(await cancelEndsNow(principal)).toBe(true);
  await setCancellation(billing.app, principal, { cancel: true });
  expect(subscription.status).toBe('canceled');
});

test('what cancel does to a paused subscription is told: it ends at once when the period of the pause is over', async () => {
  provider().set({ dunning_end: 'pause' });
  const { principal, subscription } = await makeDebtor();
  provider().clock.advance({ days: 16 });
  await tierOf(principal);
  expect(subscription.status).toBe('paused');
  expect(await cancelEndsNow(principal)).toBe(false);
  const end = 1000 * (subscription.items.data[0]?.current_period_end ?? 0);
  const later = { ...billing.app, now: () => new Date(end + 1000) };
  expect(await cancelEndsNow(principal, later)).toBe(true);
  expect(await setCancellation(later, principal, { cancel: true })).toMatchObject({ status: 'canceled' });
});

test('a checkout offers the methods of PAYMENT_METHODS alone', async () => {
  const principal = await makeMember(billing);
  await choose(principal, 'silver');
  expect(ownedBy(billing, principal).sessions[0]?.allowed_payment_method_types).toEqual(['card', 'bacs_debit']);
});

describe('invoices, the newest first', () => {
  const invoice = fc.record({
    status: fc.constantFrom('draft', 'open', 'paid', 'void', 'uncollectible'),
    isFirst: fc.boolean(),
    wasPaid: fc.boolean(),
  });
  const invoices = fc.array(invoice, { maxLength: 6 });
  const draft = { status: 'draft', isFirst: false, wasPaid: false };
  const goodwill = { status: 'void', isFirst: false, wasPaid: false };

  test('drafts and invoices that were voided later change nothing', () => {
    fc.assert(
      fc.property(invoices, fc.array(fc.constantFrom(draft, goodwill), { maxLength: 4 }), (all, added) => {
        expect(troubleOf([...added, ...all])).toBe(troubleOf(all));
      }),
    );
  });

  test('one that is paid or open ends every earlier trouble, and one that is written off is trouble', () => {
    fc.assert(
      fc.property(invoices, fc.constantFrom('paid', 'open', 'uncollectible'), (earlier, status) => {
        const trouble = troubleOf([{ ...goodwill, status }, ...earlier]);
        expect(trouble).toBe(status === 'uncollectible' ? 'uncollectible' : null);
      }),
    );
  });
});
