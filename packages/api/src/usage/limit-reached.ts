import type { Plan } from '../billing/plans/plans.ts';
import { AppError } from '../errors.ts';
import type { Meter } from './meter.ts';

/** The refusal of more than a plan allows, in a sentence that names the limit. */
export function limitReached({ name, kind }: Meter, plan: Plan, limit: number): AppError {
  const amount = limit.toLocaleString('en-GB');
  const period = kind === 'counter' ? ' a month' : '';
  return new AppError('FORBIDDEN', `The ${plan.name} plan allows ${amount} ${plural(name, limit)}${period}.`);
}

/** "API calls" stays as it is, "Members" becomes "members", and one of them is one. */
function plural(name: string, limit: number): string {
  const word = /^[A-Z][a-z]/.test(name) ? name.charAt(0).toLowerCase() + name.slice(1) : name;
  return limit === 1 ? word.replace(/s$/, '') : word;
}
