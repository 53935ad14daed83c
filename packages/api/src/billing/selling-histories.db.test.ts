import { fileURLToPath } from 'node:url';
import { eq } from 'drizzle-orm';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Administrator } from '../auth/principal.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { paymentSubscriptions } from '../platform/db/schema/billing.ts';
import { type BillingTest, makeMember, ownedBy, startBillingTest } from '../testing/billing.ts';
import { chooseCurrency } from './actions/choose-currency.ts';
import { requirePayment } from './actions/require-payment.ts';
import { setCancellation } from './actions/set-cancellation.ts';
import { setUpBilling } from './actions/set-up-billing.ts';
import { startCheckout } from './actions/start-checkout.ts';
import { decidePlan } from './entitlement/decide-plan.ts';
import { readRows } from './subscription/subscription-rows.ts';
import { reconcileAll } from './sync/reconcile.ts';

/** Three tiers, for a month and a year, in pounds and euros; here with a trial, in which plan and interval may change. */
const file = fileURLToPath(new URL('../../../../examples/plans.json', import.meta.url));
const environment = {
  PLANS_FILE: file,
  PAYMENT_CODES: 'true',
  // The sandbox's own prices are in pounds alone; these are made with both currencies.
  PAYMENT_PRICE_SILVER: 'own_silver',
  PAYMENT_PRICE_GOLD: 'own_gold',
};

let billing: BillingTest;
const provider = () => billing.sandbox.payment;
const ask = () => requirePayment(billing.app).ask;
/** 25 % for three months, and what the company gives: half of one invoice. */
const coupons = { repeating: '', once: '' };
beforeAll(async () => {
  billing = await startBillingTest({ environment });
  for (const tier of billing.app.plans.tiers)
    if (tier.tier !== 'free') Object.assign(tier, { trial: { days: 14, card: tier.tier === 'gold' } });
  await setUpBilling(billing.app);
  const repeating = { percent_off: 25, duration: 'repeating', duration_in_months: 3 } as const;
  coupons.repeating = (await ask()((api) => api.coupons.create(repeating))).id;
  coupons.once = (await ask()((api) => api.coupons.create({ percent_off: 50, duration: 'once' }))).id;
  const promotion = { type: 'coupon' as const, coupon: coupons.repeating };
  await ask()((api) => api.promotionCodes.create({ promotion, code: 'SPRING' }));
});
afterAll(() => billing.close());

type Member = Administrator & { organisationId: string };

/** The owner of a company of its own, which has had no trial. */
async function makeOwner(): Promise<Member> {
  const member = await makeMember(billing);
  const email = `owner@${member.organisationId}.example`;
  await billing.app.db.update(users).set({ email }).where(eq(users.id, member.user.id));
  return member;
}

type Plan = { tier: string; interval: string };
type Purchase = { plan: Plan; currency: string; code: string; withCard: boolean };

const plan: fc.Arbitrary<Plan> = fc.record({
  tier: fc.constantFrom('silver', 'gold'),
  interval: fc.constantFrom('month', 'year'),
});
const purchase: fc.Arbitrary<Purchase> = fc.record({
  plan,
  currency: fc.constantFrom('gbp', 'eur'),
  code: fc.constantFrom('', 'spring'),
  withCard: fc.boolean(),
});

const acts: Record<string, (member: Member, id: string) => unknown> = {
  'some days': () => void provider().clock.advance({ days: 5 }),
  'the period ends': (_, id) => void provider().clock.advanceToPeriodEnd(id),
  'a card': (_, id) => provider().setCard(customerOf(id), '4242424242424242'),
  'a card that declines': (_, id) => provider().setCard(customerOf(id), '4000000000000341'),
  'a discount': (_, id) => void provider().discount(id, coupons.once),
  'no discount': (_, id) => void provider().discount(id, null),
  cancel: (member) => setCancellation(billing.app, member, { cancel: true }),
  keep: (member) => setCancellation(billing.app, member, { cancel: false }),
  'events are lost': () => void provider().set({ drop_deliveries: true }),
  'events arrive': () => void provider().set({ drop_deliveries: false }),
};

type Act = string | Plan;
const act: fc.Arbitrary<Act> = fc.oneof(
  { arbitrary: plan, weight: 3 },
  { arbitrary: fc.constantFrom(...Object.keys(acts)), weight: 5 },
);

const customerOf = (id: string) => String(provider().state().subscriptions[id]?.customer);

async function buy(member: Member, { plan, currency, code, withCard }: Purchase): Promise<string> {
  await chooseCurrency(billing.app, member, { currency });
  const { url } = await startCheckout(billing.app, member, plan);
  const needsCard = withCard || plan.tier === 'gold';
  const body = new URLSearchParams({
    ...(needsCard ? { card: '4242424242424242' } : { without_card: '1' }),
    ...(code && { promotion_code: code }),
  });
  expect((await fetch(url, { method: 'POST', body, redirect: 'manual' })).status).toBe(303);
  await billing.settled();
  return ownedBy(billing, member).subscriptions[0]?.id ?? '';
}

/** Carries out an act; what the service or the provider refuses is skipped. */
async function carryOut(member: Member, id: string, each: Act): Promise<void> {
  try {
    if (typeof each === 'string') await acts[each]?.(member, id);
    else await changePlan(member, id, each);
  } catch {
    // Such as a plan that the organisation has already.
  }
}

/** Confirms in the portal the change of plan to which the service leads. */
async function changePlan(member: Member, id: string, wanted: Plan): Promise<void> {
  const { url } = await startCheckout(billing.app, member, wanted);
  const session = provider().state().portal_sessions[url.split('/').at(-1) ?? ''];
  const [item] = session?.flow?.subscription_update_confirm?.items ?? [];
  if (item?.price !== undefined) provider().portal(url).changePlan(id, String(item.price));
}

/** What the row has to say, from the provider's own records. */
function expected(id: string) {
  const { subscriptions, subscription_schedules, currency_options, discounts, coupons: known } = provider().state();
  const subscription = subscriptions[id];
  const [item] = subscription?.items.data ?? [];
  if (subscription === undefined || item === undefined) throw new Error('The provider lost a subscription.');
  const { status, currency } = subscription;
  const unit = currency === item.price.currency ? item.price : currency_options[item.price.id]?.[currency];
  const ended = status === 'canceled';
  const date = (seconds: number | null | undefined) => (ended || seconds == null ? null : new Date(seconds * 1000));
  const schedule = subscription_schedules[subscription.schedule ?? ''];
  const next = schedule?.phases.find(({ start_date }) => start_date >= Number(schedule.current_phase?.end_date));
  return {
    status,
    currency,
    tier: item.price.lookup_key?.includes('gold') ? 'gold' : 'silver',
    interval: item.price.recurring?.interval,
    amount: unit?.unit_amount,
    trialEnded: subscription.status_details?.paused.subscription.type === 'trial_end_without_payment_method',
    currentPeriodEnd: date(item.current_period_end),
    nextTierAt: date(next?.start_date),
    needsSync: false,
    problem: null,
    ...(!ended && {
      discounts: subscription.discounts.map((each) => ({
        percent: known[discounts[each]?.source.coupon ?? '']?.percent_off,
        amount: null,
        once: discounts[each]?.source.coupon === coupons.once,
        endsAt: date(discounts[each]?.end)?.toISOString() ?? null,
      })),
    }),
  };
}

test('after the sync provider and row are equal, whatever happened to what was bought with a trial, in a currency and with a code', async () => {
  await fc.assert(
    fc.asyncProperty(purchase, fc.array(act, { maxLength: 7 }), fc.boolean(), async (bought, history, late) => {
      provider().resetSwitches();
      const member = await makeOwner();
      const id = await buy(member, bought);
      expect(provider().state().subscriptions[id]?.trial_start).not.toBeNull();
      if (late) provider().set({ reorder_deliveries: true, duplicate_deliveries: true, delivery_delay_ms: 20 });
      for (const each of history) await carryOut(member, id, each);
      provider().resetSwitches();
      await billing.settled();
      await reconcileAll(billing.app);
      await billing.settled();

      const [row] = await billing.app.db.select().from(paymentSubscriptions).where(eq(paymentSubscriptions.id, id));
      expect(row).toMatchObject(expected(id));
      const { plan, rows } = await readRows(billing.app.db, { organisationId: member.organisationId });
      expect(plan).toMatchObject(decidePlan(billing.app, { rows, override: null }, billing.app.now()));
      // The clock advances all subscriptions, also those of earlier runs.
      await ask()((api) => api.subscriptions.cancel(id)).catch(() => {});
    }),
    { numRuns: 8 },
  );
}, 180_000);
