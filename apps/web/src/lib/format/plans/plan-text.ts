import { formatDate } from '#lib/format/dates.ts';
import { formatInterval, formatMoney } from '#lib/format/money.ts';
import { formatPercent } from '#lib/format/numbers.ts';
import type { Tone } from '#lib/format/tone.ts';
import { texts } from '#lib/language/texts.ts';
import type { PaymentNotice, Plan, Tier } from '#lib/subscription.ts';

const finalStatuses = ['none', 'canceled', 'incomplete_expired'];

/** Whether the plan is there that was bought, and not one alone that was agreed. */
export function isBought({ tier, status, agreed }: Pick<Plan, 'tier' | 'status' | 'agreed'>): boolean {
  return tier !== 'free' && (!agreed?.tier || status === 'active' || status === 'trialing');
}

/** Whether there is a subscription that could still be paid, changed or cancelled. */
export function hasSubscription(plan: Plan): boolean {
  return !plan.ended_unconfirmed_at && !finalStatuses.includes(plan.status);
}

/**
 * Whether the plan that is shown is not the subscription's: it gives none now, or an operator agreed on a higher one, which
 * stays when it ends. Texts about the subscription do not name the plan then.
 */
export function isUnnamed({ tier, agreed }: Plan): boolean {
  return tier === 'free' || agreed?.tier === true;
}

/** Whether cancel would still end something: a scheduled end may be that of one of several subscriptions. */
export function mayCancel(plan: Plan): boolean {
  const ends = plan.cancel_at_period_end && !endsLater(plan);
  return hasSubscription(plan) && (!ends || plan.cancel_ends_now || plan.another_goes_on);
}

/** Whether the subscription is set to end only after further periods, each of which is charged; cancel ends it with this one. */
export function endsLater({ subscription_ends_at: end, current_period_end: period }: Plan): boolean {
  return end !== null && period !== null && Date.parse(end) > Date.parse(period);
}

/** The badge for the subscription's status; null without a subscription. */
export function statusText(plan: Plan): { tone: Tone; text: string } | null {
  const { status } = texts('plan');
  if (plan.ended_unconfirmed_at) return { tone: 'warn', text: status.ended };
  if (hasSubscription(plan) && isEnding(plan) && plan.status !== 'past_due')
    return { tone: 'warn', text: status.ending };

  if (hasSubscription(plan) && plan.held) return { tone: 'bad', text: heldText(plan.held) };

  switch (plan.status) {
    case 'active':
      return { tone: 'good', text: status.active };
    case 'trialing':
      return { tone: 'good', text: status.trialing };
    case 'past_due':
      return { tone: 'warn', text: status.past_due };
    case 'incomplete':
      return { tone: 'warn', text: status.incomplete };
    case 'unpaid':
      return { tone: 'bad', text: status.unpaid };
    case 'paused':
      return { tone: 'warn', text: status.paused };
    default:
      return hasSubscription(plan) ? { tone: 'warn', text: status.onHold } : null;
  }
}

/** Whether a scheduled end is what there is to say. Of a plan that nobody paid for it means nothing. */
function isEnding({ cancel_at_period_end, cancel_ends_now }: Plan): boolean {
  return cancel_at_period_end && !cancel_ends_now;
}

function heldText(held: NonNullable<Plan['held']>): string {
  const { status } = texts('plan');
  if (held === 'disputed') return status.disputed;
  return held === 'uncollectible' ? status.unpaid : status.bounced;
}

/** Whether an invoice has to be paid before a plan can be changed; the checkout leads there. */
export function isPaymentDue(plan: Plan): boolean {
  if (!hasSubscription(plan)) return false;
  return plan.held === 'uncollectible' || ['past_due', 'unpaid', 'incomplete'].includes(plan.status);
}

/** Whether choosing another plan changes the running subscription on the provider's page, and nothing has to come first. */
export function changesInPlace(plan: Plan): boolean {
  if (plan.held || plan.cancel_at_period_end || plan.change || plan.agreed?.tier || plan.tier === 'free') return false;
  return hasSubscription(plan) && ['active', 'trialing'].includes(plan.status);
}

/**
 * Names the plan and the one that follows it, by their intervals where only these differ: "Gold yearly", "Gold monthly".
 * Null if it is not known what changes.
 */
export function changedNames(
  { name, price }: Plan,
  next: { name: string | null; interval: string | null },
): { plan: string; next: string } | null {
  const { byInterval } = texts('plan');
  if (next.name !== name) return next.name === null ? null : { plan: name, next: next.name };
  if (!price || next.interval === null || next.interval === price.interval) return null;
  const named = (interval: string) => byInterval({ plan: name, interval });
  return { plan: named(price.interval), next: named(next.interval) };
}

/** Whether a trial ends in a pause unless a card is added, or has ended in one. One whose invoices are sent needs none. */
export function needsCard({ status, trial_ended, ...plan }: Plan): boolean {
  const isTrial = status === 'trialing' || trial_ended;
  return isTrial && plan.payment_method === null && plan.days_until_due === null && !plan.cancel_at_period_end;
}

/** "£24 / month. Renews on 3 December 2026." */
export function planSentence(plan: Plan, tiers: Tier[]): string {
  const t = texts('plan');
  if (plan.ended_unconfirmed_at) return t.ended({ day: formatDate(plan.ended_unconfirmed_at) });
  if (plan.status === 'canceled' && !plan.agreed?.tier) return t.hasEnded;
  if (hasSubscription(plan) && plan.tier === 'free' && !isEnding(plan)) return whyFree(plan);

  const credit = plan.credit && t.credit({ amount: formatMoney(plan.credit) });
  return [costOf(plan), ...plan.discounts.map(discountText), nextDate(plan, tiers), credit].filter(Boolean).join(' ');
}

/** What the subscription costs, which need not be the list price of its plan. Empty if that is no fixed amount. */
function costOf({ tier, price, ...plan }: Plan): string {
  const t = texts('plan');
  if (plan.agreed?.tier && !hasSubscription({ tier, price, ...plan })) return '';
  if (price) return t.price({ amount: formatMoney(price), interval: formatInterval(price.interval) });
  return tier !== 'free' && hasSubscription({ tier, price, ...plan }) ? '' : t.free;
}

/** When a trial ends, and what then. Members who do not see the card read only when. */
function trialText(plan: Plan, day: string): string {
  const t = texts('plan');
  const { name, payment_method, days_until_due } = plan;
  if (days_until_due !== null) return `${t.freeUntil({ day })} ${t.byInvoice({ days: days_until_due })}`;
  if (needsCard(plan)) return `${t.freeUntil({ day })} ${t.addCardByThen({ plan: name })}`;
  return payment_method ? t.trialThenPaid({ day, method: methodText(payment_method) }) : t.trialEndsOn({ day });
}

/** "25% off until 22 December 2026." */
export function discountText({ percent, amount, once, ends_at }: Plan['discounts'][number]): string {
  const t = texts('plan');
  const part = amount === null ? formatPercent(percent ?? 0) : formatMoney(amount);
  if (once) return t.discountOnce({ amount: part });
  return ends_at === null ? t.discount({ amount: part }) : t.discountUntil({ amount: part, day: formatDate(ends_at) });
}

/** "£24 from Visa ending in 4242. The next attempt is on 25 December 2026." */
export function paymentFacts({ amount, payment_method, next_attempt_at }: PaymentNotice): string {
  const t = texts('plan');
  const method = payment_method === null ? null : methodText(payment_method);
  const money = amount === null ? null : formatMoney(amount);
  return [
    money && (method ? t.amountFrom({ amount: money, method }) : t.amountDue({ amount: money })),
    next_attempt_at && t.nextAttempt({ day: formatDate(next_attempt_at) }),
  ]
    .filter(Boolean)
    .join(' ');
}

/** "visa 4242" → "Visa ending in 4242" */
export function methodText(method: string): string {
  const t = texts('plan');
  const [kind = '', last4] = method.split(' ');
  const name = Object.hasOwn(t.methods, kind) ? t.methods[kind as keyof typeof t.methods] : kind.replaceAll('_', ' ');
  return last4 === undefined ? name : t.endingIn({ method: name, digits: last4 });
}

/** Why the plan is the free one although there is a subscription. */
export function whyFree({ status, held, trial_ended, payment_method }: Plan): string {
  const t = texts('plan');
  if (held === 'disputed') return t.disputed;
  if (held === 'lost') return t.disputeLost;
  if (held) return held === 'void' ? t.bounced : t.offUntilPaid;
  switch (status) {
    case 'past_due':
    case 'unpaid':
      return t.offUntilPaid;
    case 'incomplete':
      return t.startsWhenPaid;
    case 'paused':
      // A card that was added and declined leads to the invoice, as after any other pause.
      return trial_ended && !payment_method ? `${t.trialEnded} ${t.addCardToStart}` : t.isPaused;
    default:
      return t.unreadable;
  }
}

function nextDate(plan: Plan, [free]: Tier[]): string {
  const t = texts('plan');
  if (!hasSubscription(plan)) return '';
  if (plan.cancel_at_period_end && plan.agreed?.tier) {
    const { paidEndsOn, paidEnds } = texts('billing');
    const end = plan.subscription_ends_at ?? plan.current_period_end;
    return end ? paidEndsOn({ day: formatDate(end) }) : paidEnds;
  }
  if (plan.cancel_at_period_end) {
    const end = plan.ends_at ?? plan.current_period_end;
    const next = free?.name ?? 'Free';
    return end ? t.endsOn({ day: formatDate(end), next }) : t.endsWithPeriod({ next });
  }
  if (plan.change && !plan.agreed?.tier) {
    const day = formatDate(plan.change.at);
    const names = changedNames(plan, plan.change);
    return names ? t.untilThen({ ...names, day }) : t.changesOn({ plan: plan.name, day });
  }
  if (plan.collection_paused) return t.notCollected;
  if (!plan.current_period_end) return '';
  if (plan.status === 'active') {
    const renews = t.renewsOn({ day: formatDate(plan.current_period_end) });
    return plan.days_until_due === null ? renews : `${renews} ${t.byInvoice({ days: plan.days_until_due })}`;
  }
  if (plan.status === 'trialing') return trialText(plan, formatDate(plan.current_period_end));
  return '';
}
