import type { Plan } from '../billing/plans/plans.ts';
import { AppError } from '../errors.ts';
import type { Meter } from './meter.ts';

/** Returns the AppError FORBIDDEN for use above a plan's limit, with a sentence that names the limit. */
export function limitReached({ name, kind }: Meter, plan: Plan, limit: number): AppError {
  const amount = limit.toLocaleString('en-GB');
  const period = kind === 'counter' ? ' a month' : '';
  return new AppError('FORBIDDEN', `The ${plan.name} plan allows ${amount} ${plural(name, limit)}${period}.`);
}

/** Keeps "API calls", turns "Members" into "members", and uses the singular for a limit of 1. */
function plural(name: string, limit: number): string {
  const word = /^[A-Z][a-z]/.test(name) ? name.charAt(0).toLowerCase() + name.slice(1) : name;
  return limit === 1 ? word.replace(/s$/, '') : word;
}
