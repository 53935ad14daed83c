import type { App } from '../../app.ts';
import { invalid } from '../../platform/errors.ts';
import { count, type KeyKind, type UsageTarget } from './count.ts';
import { limitReached } from './limit.ts';
import { type Meter, meterInBody, type UsageAnswer } from './meter.ts';
import type { Reservation, UsageRequest } from './usage-input.ts';

/**
 * Reserves an amount of a meter within the plan's limit, by one statement: concurrent calls
 * cannot exceed the limit. Usage above a lowered limit is kept. The same idempotency key
 * counts once and answers as the first time, for 48 hours, refusals too. With `expires` it is a hold, whose amount counts
 * until it is released or expires.
 *
 * @throws AppError LIMIT_REACHED with meter, used, limit and allowed_by; CONFLICT if the key was
 *   used with other content; VALIDATION for an unknown meter, for members, and above 2^53 − 1;
 *   TOO_MANY beyond the new keys of an hour or the open holds; NOT_FOUND if the organisation was deleted meanwhile.
 */
export async function reserve(
  app: App,
  target: UsageTarget,
  request: Reservation,
  by: KeyKind,
): Promise<UsageAnswer & { hold?: string }> {
  const meter = reservableMeter(app, request.meter);

  const { granted, used, limit, tier, resetsAt, hold } = await count(app, target, 'reserve', meter, request, by);

  if (granted) return { meter: meter.meter, used, limit, resets_at: resetsAt, ...(hold !== null && { hold }) };
  if (limit === null) throw invalid({ amount: 'The use would exceed the largest whole number.' });
  const plan = app.plans.tiers.find((each) => each.tier === tier) ?? null;
  throw limitReached(app.plans, meter, { plan, used, limit, needed: used + request.amount });
}

/** Returns the meter that a body names. @throws AppError VALIDATION for an unknown meter, and for members, which are counted. */
function reservableMeter(app: App, name: string): Meter {
  const meter = meterInBody(app, name);
  if (name === 'members') throw invalid({ meter: 'Members are counted, not reserved.' });
  return meter;
}

/**
 * Releases an amount of a gauge, for example when a project is deleted. The value never goes below zero. A key that the
 * organisation's administrators made gives back no more than keys of the organisation reserved and did not release. The same idempotency key counts once and answers as the first time, for 48 hours.
 *
 * @throws AppError VALIDATION for an unknown meter, for members and for a counter; CONFLICT if the
 *   key was used with other content; NOT_FOUND if the organisation was deleted meanwhile.
 */
export async function release(app: App, target: UsageTarget, request: UsageRequest, by: KeyKind): Promise<UsageAnswer> {
  const meter = reservableMeter(app, request.meter);
  if (meter.kind !== 'gauge') throw invalid({ meter: `${meter.name} are counted: what was done cannot be released.` });

  const { used, limit, resetsAt } = await count(app, target, 'release', meter, request, by);

  return { meter: meter.meter, used, limit, resets_at: resetsAt };
}
