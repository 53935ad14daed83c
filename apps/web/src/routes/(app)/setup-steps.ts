import { formatList } from '#lib/format/lists.ts';
import { hasSubscription } from '#lib/format/plan-text.ts';
import type { Overview } from './home-notices.ts';

export interface SetupStep {
  title: string;
  text: string;
  done: boolean;
  href: string;
  action: string;
}

interface Facts {
  overview: Overview;
  members: number;
  administers: boolean;
  hasName: boolean;
}

/** The steps after onboarding that this user can take, done ones included; empty once all are done. */
export function setupSteps({ overview, members, administers, hasName }: Facts): SetupStep[] {
  const steps = [
    nameStep(hasName),
    ...(administers ? [inviteStep(overview, members)] : []),
    ...(administers && overview.billing_enabled ? [planStep(overview)] : []),
  ].filter((step) => step !== null);
  return steps.every(({ done }) => done) ? [] : steps;
}

function nameStep(hasName: boolean): SetupStep {
  return {
    title: 'Add your name',
    text: 'It tells the people you work with who you are.',
    done: hasName,
    href: '/account?change=name',
    action: 'Add name',
  };
}

/** Null for an organisation whose plan has no room for a second member: its user cannot take this step. */
function inviteStep({ usage }: Overview, members: number): SetupStep | null {
  const limit = usage.find(({ meter }) => meter === 'members')?.limit ?? null;
  const done = members > 1;
  if (!done && limit !== null && limit <= members) return null;
  return {
    title: 'Invite the people you work with',
    text: 'Create a link and send it yourself. It lets one person join.',
    done,
    href: '/members?invite',
    action: 'Invite',
  };
}

function planStep({ plan, tiers }: Overview): SetupStep {
  const [free = 'Free', ...paid] = tiers.map(({ name }) => name);
  return {
    title: 'Choose a plan',
    text: `You can stay on ${free}. ${formatList(paid)} ${paid.length === 1 ? 'gives' : 'give'} you more room.`,
    done: hasSubscription(plan) || plan.tier !== 'free',
    href: '/billing#plans',
    action: 'See plans',
  };
}
