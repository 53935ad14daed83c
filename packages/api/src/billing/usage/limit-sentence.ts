import type { Plan } from '../plans/plans.ts';
import type { Meter } from './meter.ts';

/** Returns a sentence that names a plan's limit: "The Free plan allows 3 projects." */
export function limitSentence({ name, kind, resets }: Meter, plan: Plan, limit: number): string {
  const amount = limit.toLocaleString('en-GB');
  const period = kind === 'gauge' ? '' : resets === 'calendar_month' ? ' a month' : ' in a billing period';
  return `The ${plan.name} plan allows ${amount} ${plural(name, limit)}${period}.`;
}

/** Keeps "API calls", turns "Members" into "members", and uses the singular for a limit of 1. */
function plural(name: string, limit: number): string {
  const word = /^[A-Z][a-z]/.test(name) ? name.charAt(0).toLowerCase() + name.slice(1) : name;
  return limit === 1 ? word.replace(/s$/, '') : word;
}
