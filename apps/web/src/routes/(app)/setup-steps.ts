import { formatList } from '#lib/format/lists.ts';
import { hasSubscription } from '#lib/format/plans/plan-text.ts';
import { texts } from '#lib/language/texts.ts';
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
  isAdministrator: boolean;
  hasName: boolean;
}

/** The steps after onboarding that this user can take, done ones included; empty once all are done. */
export function setupSteps({ overview, members, isAdministrator, hasName }: Facts): SetupStep[] {
  const steps = [
    nameStep(hasName),
    ...(isAdministrator ? [inviteStep(overview, members)] : []),
    ...(isAdministrator && overview.billing_enabled ? [planStep(overview)] : []),
  ].filter((step) => step !== null);
  return steps.every(({ done }) => done) ? [] : steps;
}

function nameStep(hasName: boolean): SetupStep {
  return {
    ...texts('overview').name,
    done: hasName,
    href: '/account?change=name',
  };
}

/** Null for an organisation whose plan has no room for a second member: its user cannot take this step. */
function inviteStep({ usage }: Overview, members: number): SetupStep | null {
  const limit = usage.find(({ meter }) => meter === 'members')?.limit ?? null;
  const done = members > 1;
  if (!done && limit !== null && limit <= members) return null;
  return {
    ...texts('overview').invite,
    done,
    href: '/members?invite',
  };
}

function planStep({ plan, tiers }: Overview): SetupStep {
  const [free = 'Free', ...paid] = tiers.map(({ name }) => name);
  const { title, text, action } = texts('overview').choose;
  return {
    title,
    text: text({ free, paid: formatList(paid), count: paid.length }),
    done: hasSubscription(plan) || plan.tier !== 'free',
    href: '/billing#plans',
    action,
  };
}
