import { type Message, message } from '../../platform/messages.ts';
import type { Plan } from '../plans/plans.ts';
import type { Meter } from './meter.ts';

/** Returns a message that names a plan's limit: "The Free plan allows 3 projects." */
export function limitMessage({ meter, name, kind, resets }: Meter, plan: Plan, limit: number): Message {
  const period = kind === 'gauge' ? 'none' : resets;
  return message('plan_limit', { plan: plan.name, limit, meter, name: plural(name, limit), resets: period });
}

/** Keeps "API calls", turns "Members" into "members", and uses the singular for a limit of 1. */
function plural(name: string, limit: number): string {
  const word = /^[A-Z][a-z]/.test(name) ? name.charAt(0).toLowerCase() + name.slice(1) : name;
  return limit === 1 ? word.replace(/s$/, '') : word;
}
