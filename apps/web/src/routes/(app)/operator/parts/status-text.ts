import type { Tone } from '#lib/format/tone.ts';
import { texts } from '#lib/language/texts.ts';
import type { RouterOutputs } from '#lib/router.ts';
import { subscriptionStatus } from '../events/change-text.ts';

type Badge = { tone: Tone; text: string };
export type User = RouterOutputs['operators']['people']['people'][number];
export type Organisation = RouterOutputs['operators']['organisations']['organisations'][number];

const accountTones = { active: 'good', awaiting_approval: 'plain', unverified: 'warn', closed: 'bad' } as const;

/** The badge of an account status. A suspended user is closed in every organisation. */
export function accountBadge({ account_status, suspended }: Pick<User, 'account_status' | 'suspended'>): Badge {
  const { status } = texts('accountAdmin');
  if (suspended) return { tone: 'bad', text: status.suspended };
  return { tone: accountTones[account_status], text: status[account_status] };
}

export function organisationBadge({ status }: Pick<Organisation, 'status'>): Badge {
  const t = texts('accountAdmin');
  if (status === 'pending') return { tone: 'plain', text: t.status.awaiting_approval };
  return { tone: status === 'approved' ? 'good' : 'bad', text: t.status[status] };
}

/** "Silver", "Silver, past due" */
export function planBadge({ plan }: Pick<Organisation, 'plan'>): Badge {
  const quiet = ['none', 'active', 'canceled'].includes(plan.status);
  if (quiet) return { tone: 'plain', text: plan.name };
  const tone = plan.status === 'trialing' ? 'plain' : 'warn';
  return { tone, text: texts('accountAdmin').planIs({ plan: plan.name, status: subscriptionStatus(plan.status) }) };
}

/** What a list of people and one of organisations can be narrowed to, as their badges say it. */
export const userStatuses = ['active', 'awaiting_approval', 'unverified', 'closed', 'suspended'] as const;
export const organisationStatuses = ['approved', 'pending', 'declined', 'suspended'] as const;

/** The options of a filter: any, and one for each value. */
export function withAny<Value extends string>(any: string, values: readonly Value[], names: Record<Value, string>) {
  return [{ value: '', text: any }, ...values.map((value) => ({ value, text: names[value] }))];
}
