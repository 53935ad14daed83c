import { AppError } from '../../platform/errors.ts';
import { type Message, message } from '../../platform/messages.ts';
import type { Plan, Plans, Tier } from '../plans/plans.ts';
import type { Meter } from './meter.ts';

/** Returns the tiers whose limit of a meter is at least `needed`, in rising rank. */
export function allowedBy({ tiers }: Plans, meter: string, needed: number): Tier[] {
  return tiers
    .filter(({ limits }) => {
      const limit = limits[meter] ?? null;
      return limit === null || limit >= needed;
    })
    .map(({ tier }) => tier);
}

type Refusal = {
  /** The plan that refused; null if the plans no longer hold it. */
  plan: Plan | null;
  used: number;
  limit: number;
  /** The value that the meter would have had. */
  needed: number;
};

/** Returns the AppError LIMIT_REACHED with a sentence that names the limit, and with meter, used, limit and allowed_by. */
export function limitReached(plans: Plans, meter: Meter, { plan, used, limit, needed }: Refusal): AppError {
  const sentence = plan === null ? 'The plan’s limit is reached.' : limitMessage(meter, plan, limit);
  const facts = { meter: meter.meter, used, limit, allowed_by: allowedBy(plans, meter.meter, needed) };
  return new AppError('LIMIT_REACHED', sentence, { facts });
}

/** "The Free plan allows 3 projects." */
function limitMessage({ meter, name, kind, resets }: Meter, plan: Plan, limit: number): Message {
  const period = kind === 'gauge' ? 'none' : resets;
  return message('plan_limit', { plan: plan.name, limit, meter, name: plural(name, limit), resets: period });
}

/** Keeps "API calls", turns "Members" into "members", and uses the singular for a limit of 1. */
function plural(name: string, limit: number): string {
  const word = /^[A-Z][a-z]/.test(name) ? name.charAt(0).toLowerCase() + name.slice(1) : name;
  return limit === 1 ? word.replace(/s$/, '') : word;
}
