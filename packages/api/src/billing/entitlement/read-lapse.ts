import type { App } from '../../app.ts';
import { organisationOf, type Principal } from '../../sessions/principal.ts';
import { readPlan } from './read-plan.ts';

/**
 * When the scheduled end of the plan came, in ISO 8601, while the provider has yet to
 * confirm it; null otherwise. The summary tells no times by then, and still the status
 * that the provider told last.
 */
export async function readLapse(app: App, principal: Principal): Promise<string | null> {
  principal.require('READ');

  const { subscription } = await readPlan(app, organisationOf(principal).id);
  const endsAt = subscription?.endsAt ?? null;
  return endsAt !== null && endsAt <= app.now() ? endsAt.toISOString() : null;
}
