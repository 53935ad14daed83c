import { formatDate, formatDay } from '#lib/format/dates.ts';
import { hasSubscription, isPaymentDue } from '#lib/format/plan-text.ts';
import type { RouterOutputs } from '#lib/router.ts';

export type Overview = RouterOutputs['subscription']['overview'];

export interface HomeNotice {
  tone: 'bad' | 'warn' | 'plain';
  title: string;
  text: string;
  href: string;
  action: string;
}

/** What an administrator should act on, the most urgent first. */
export function homeNotices(overview: Overview, members: number): HomeNotice[] {
  const notices = overview.billing_enabled ? [paymentNotice(overview), endingNotice(overview)] : [];
  return [...notices, memberNotice(overview, members)].filter((notice) => notice !== null);
}

function paymentNotice({ plan, notice }: Overview): HomeNotice | null {
  if (notice === null && !isPaymentDue(plan)) return null;
  const confirming = notice?.kind === 'action_required';
  return {
    tone: 'bad',
    title: paymentTitle(plan.status, confirming),
    text: paymentText(plan, notice?.grace_ends_at ?? null, confirming ? 'Confirm it' : 'Pay'),
    ...(notice?.invoice_url
      ? { href: notice.invoice_url, action: confirming ? 'Confirm' : 'Pay now' }
      : { href: '/billing', action: 'See billing' }),
  };
}

function paymentTitle(status: string, confirming: boolean): string {
  if (confirming) return 'Your bank wants you to confirm the payment';
  return status === 'incomplete' ? 'Your first payment is still open' : 'Your payment failed';
}

function paymentText(plan: Overview['plan'], graceEndsAt: string | null, act: string): string {
  if (plan.status === 'incomplete') return 'Your paid plan starts once its first payment arrives.';
  if (plan.tier === 'free') return 'Your paid plan is off until its invoice is paid.';
  return graceEndsAt ? `${act} by ${formatDay(graceEndsAt)} to keep ${plan.name}.` : `${act} to keep ${plan.name}.`;
}

function endingNotice({ plan, tiers: [free] }: Overview): HomeNotice | null {
  if (!hasSubscription(plan) || !plan.cancel_at_period_end) return null;
  const name = plan.tier === 'free' ? 'Your paid plan' : plan.name;
  const end = plan.ends_at ?? plan.current_period_end;
  return {
    tone: 'plain',
    title: end ? `${name} ends on ${formatDate(end)}` : `${name} ends with the paid period`,
    text: `Then you move to ${free?.name ?? 'Free'}. Change your mind any time before.`,
    href: '/billing',
    action: 'See billing',
  };
}

function memberNotice({ usage }: Overview, members: number): HomeNotice | null {
  const seats = usage.find(({ meter }) => meter === 'members');
  if (seats?.limit == null || members <= seats.limit) return null;
  return {
    tone: 'warn',
    title: 'Over your member limit',
    text: 'Everyone stays, but you can’t add anyone.',
    href: '/members',
    action: 'See members',
  };
}
