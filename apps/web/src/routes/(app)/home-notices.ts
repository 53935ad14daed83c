import { formatDate, formatDay } from '#lib/format/dates.ts';
import {
  hasSubscription,
  isPaymentDue,
  isUnnamed,
  needsCard,
  paymentFacts,
  whyFree,
} from '#lib/format/plans/plan-text.ts';
import { texts } from '#lib/language/texts.ts';
import type { RouterOutputs } from '#lib/router.ts';

export type Overview = RouterOutputs['subscription']['overview'];

interface HomeNotice {
  tone: 'bad' | 'warn' | 'plain';
  title: string;
  text: string;
  href: string;
  action: string;
}

/** What an administrator should act on, the most urgent first. */
export function homeNotices(overview: Overview, members: number): HomeNotice[] {
  const notices = overview.billing_enabled
    ? [paymentNotice(overview), cardNotice(overview), endingNotice(overview)]
    : [];
  return [...notices, memberNotice(overview, members)].filter((notice) => notice !== null);
}

/** Says that somebody signed in from a browser not seen before, until the user says that they know it. */
export function signInNotice(newBrowsers: number): HomeNotice | null {
  if (newBrowsers === 0) return null;
  const t = texts('overview');
  return {
    tone: 'warn',
    title: t.newSignIn({ count: newBrowsers }),
    text: t.newSignInText,
    href: '/account/security',
    action: t.seeSignIns,
  };
}

/** Says that recovery codes run out, and that somebody tries to guess codes. */
export function factorNotices({
  few_recovery_codes,
  many_wrong_codes,
}: RouterOutputs['factors']['warnings']): HomeNotice[] {
  const t = texts('factor');
  const href = '/account/security';
  return [
    ...(many_wrong_codes
      ? [
          {
            tone: 'warn' as const,
            title: t.manyWrong,
            text: t.manyWrongText,
            href: '/account/security?change=password',
            action: t.changePassword,
          },
        ]
      : []),
    ...(few_recovery_codes
      ? [{ tone: 'warn' as const, title: t.fewCodes, text: t.fewCodesText, href, action: t.seeSecurity }]
      : []),
  ];
}

function paymentNotice({ plan, notice }: Overview): HomeNotice | null {
  const t = texts('overview');
  if (plan.held !== null && plan.held !== 'uncollectible') {
    const title = plan.held === 'disputed' ? t.disputed : t.paymentFailed;
    return { tone: 'bad', title, text: whyFree(plan), href: '/billing', action: t.seeBilling };
  }
  if (notice === null && !isPaymentDue(plan)) return null;
  const confirming = notice?.kind === 'action_required';
  return {
    tone: 'bad',
    title: paymentTitle(plan.status, notice?.kind),
    text: [notice && paymentFacts(notice), paymentText(plan, notice?.grace_ends_at ?? null, confirming)]
      .filter(Boolean)
      .join(' '),
    ...(notice?.invoice_url
      ? { href: notice.invoice_url, action: confirming ? t.confirm : t.payNow }
      : { href: '/billing', action: t.seeBilling }),
  };
}

function paymentTitle(status: string, kind: NonNullable<Overview['notice']>['kind'] | undefined): string {
  const t = texts('overview');
  if (kind === 'action_required') return t.confirmTitle;
  if (kind === 'overdue') return t.invoiceOverdue;
  return status === 'incomplete' ? t.firstPaymentOpen : t.paymentFailed;
}

function paymentText(plan: Overview['plan'], graceEndsAt: string | null, confirming: boolean): string {
  const t = texts('overview');
  if (plan.status === 'incomplete') return t.startsWhenPaid;
  if (plan.tier === 'free' || plan.cancel_ends_now) return t.offUntilPaid;
  const name = isUnnamed(plan) ? t.keptPaidPlan : plan.name;
  if (graceEndsAt === null) return confirming ? t.confirmToKeep({ plan: name }) : t.payToKeep({ plan: name });
  return (confirming ? t.confirmBy : t.payBy)({ day: formatDay(graceEndsAt), plan: name });
}

/** A trial without a card that ends or has ended: /billing leads to the page for a card. */
function cardNotice({ plan }: Overview): HomeNotice | null {
  if (!needsCard(plan)) return null;
  const [t, { addCardByThen, addCardToStart }] = [texts('overview'), texts('plan')];
  const link = { tone: 'warn' as const, href: '/billing', action: texts('billing').addCard };
  if (plan.trial_ended) return { ...link, title: t.trialEnded, text: addCardToStart };
  const day = plan.current_period_end;
  if (day === null) return null;
  return { ...link, title: t.trialEndsOn({ day: formatDate(day) }), text: addCardByThen({ plan: plan.name }) };
}

function endingNotice({ plan, tiers: [free] }: Overview): HomeNotice | null {
  if (!hasSubscription(plan) || !plan.cancel_at_period_end) return null;
  const t = texts('overview');
  const name = isUnnamed(plan) || plan.status === 'past_due' ? t.paidPlan : plan.name;
  // Where an operator agreed on the plan, `ends_at` is the end of that, and no other plan follows the subscription.
  const isAgreed = plan.agreed?.tier === true;
  const end = (isAgreed ? plan.subscription_ends_at : plan.ends_at) ?? plan.current_period_end;
  return {
    tone: 'plain',
    title: end ? t.endsOn({ plan: name, day: formatDate(end) }) : t.endsWithPeriod({ plan: name }),
    text: isAgreed ? texts('billing').changeMind : t.thenMoves({ plan: free?.name ?? 'Free' }),
    href: '/billing',
    action: t.seeBilling,
  };
}

function memberNotice({ usage }: Overview, members: number): HomeNotice | null {
  const seats = usage.find(({ meter }) => meter === 'members');
  if (seats?.limit == null || members <= seats.limit) return null;
  const t = texts('overview');
  return {
    tone: 'warn',
    title: t.overMembers,
    text: t.everyoneStays,
    href: '/members',
    action: t.seeMembers,
  };
}
