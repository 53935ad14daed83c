import type { Tone } from '#lib/format/tone.ts';
import type { RouterOutputs } from '#lib/router.ts';

type Badge = { tone: Tone; text: string };
export type Person = RouterOutputs['operators']['people']['people'][number];
export type Organisation = RouterOutputs['operators']['organisations']['organisations'][number];

const accounts: Record<Person['account_status'], Badge> = {
  active: { tone: 'good', text: 'Active' },
  awaiting_approval: { tone: 'plain', text: 'Awaiting approval' },
  unverified: { tone: 'warn', text: 'Address not confirmed' },
  closed: { tone: 'bad', text: 'Closed' },
};

/** The badge of an account status. A suspended user is closed in every organisation. */
export function accountBadge({ account_status, suspended }: Pick<Person, 'account_status' | 'suspended'>): Badge {
  return suspended ? { tone: 'bad', text: 'Suspended' } : accounts[account_status];
}

const organisationBadges: Record<Organisation['status'], Badge> = {
  pending: { tone: 'plain', text: 'Awaiting approval' },
  approved: { tone: 'good', text: 'Approved' },
  declined: { tone: 'bad', text: 'Declined' },
  suspended: { tone: 'bad', text: 'Suspended' },
};

export function organisationBadge({ status }: Pick<Organisation, 'status'>): Badge {
  return organisationBadges[status];
}

/** "Silver", "Silver, past due" */
export function planBadge({ plan }: Pick<Organisation, 'plan'>): Badge {
  const quiet = ['none', 'active', 'trialing', 'canceled'].includes(plan.status);
  return quiet
    ? { tone: 'plain', text: plan.name }
    : { tone: 'warn', text: `${plan.name}, ${plan.status.replaceAll('_', ' ')}` };
}

/** An organisation's name, or its slug if it has none. */
export function nameOf({ name, slug }: Pick<Organisation, 'name' | 'slug'>): string {
  return name ?? slug;
}
