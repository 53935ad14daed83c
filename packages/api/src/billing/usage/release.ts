import type { App } from '../../app.ts';
import { invalid } from '../../platform/errors.ts';
import { count, type UsageTarget } from './count.ts';
import { reservableMeter, type UsageAnswer } from './reserve.ts';
import type { UsageRequest } from './usage-input.ts';

/**
 * Releases an amount of a gauge, for example when a project is deleted. The value never goes
 * below zero. The same idempotency key counts once and answers as the first time, for 48 hours.
 *
 * @throws AppError VALIDATION for an unknown meter, for members and for a counter; CONFLICT if the
 *   key was used with other content; NOT_FOUND if the organisation was deleted meanwhile.
 */
export async function release(app: App, target: UsageTarget, request: UsageRequest): Promise<UsageAnswer> {
  const meter = reservableMeter(app, request.meter);
  if (meter.kind !== 'gauge') throw invalid({ meter: `${meter.name} are counted: what was done cannot be released.` });

  const { used, limit, resetsAt } = await count(app, target, 'release', meter, request);

  return { meter: meter.meter, used, limit, resets_at: resetsAt };
}
