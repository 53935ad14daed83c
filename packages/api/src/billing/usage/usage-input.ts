import { lte } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { deleteInSteps } from '../../platform/db/in-steps.ts';
import { usageRequests } from '../../platform/db/schema/usage.ts';
import { dayMilliseconds, hourMilliseconds, minuteMilliseconds } from '../../platform/durations.ts';
import { AppError, invalid } from '../../platform/errors.ts';
import { maxUsed } from './meter.ts';

/** The largest amount of one request. */
const maxAmount = 1_000_000_000;

const oldestDays = 35;
const aheadMilliseconds = 5 * minuteMilliseconds;

const wholeAmount = `must be a whole number from 1 to ${maxAmount.toLocaleString('en-GB')}.`;
// PostgreSQL text cannot store U+0000 and unpaired surrogates.
const idempotencyKey = z
  .string('An idempotency key is required.')
  .min(1, 'An idempotency key is required.')
  .refine((key) => [...key].length <= 128, 'An idempotency key has at most 128 characters.')
  .refine((key) => !key.includes('\0') && key.isWellFormed(), 'An idempotency key must be text.');

const meter = z.string('A meter is required.');
const amount = z
  .int(`The amount ${wholeAmount}`)
  .min(1, `The amount ${wholeAmount}`)
  .max(maxAmount, `The amount ${wholeAmount}`);
const at = z.iso
  .datetime({ offset: true, error: 'The time must be in ISO 8601.' })
  .transform((value) => new Date(value));

/** What a release asks for. A member that is not described is refused, here and below: a misspelt one must not be lost. */
export const usageRequestInput = z.strictObject({ meter, amount: amount.default(1), idempotency_key: idempotencyKey });
export type UsageRequest = z.output<typeof usageRequestInput>;

const maxHoldSeconds = 86_400;
const holdSeconds = `must be a whole number of seconds from 1 to ${maxHoldSeconds.toLocaleString('en-GB')}.`;

/** What a reservation asks for. With `expires`, in seconds, it is a hold. */
export const reservationInput = usageRequestInput.extend({
  expires: z
    .int(`The end ${holdSeconds}`)
    .min(1, `The end ${holdSeconds}`)
    .max(maxHoldSeconds, `The end ${holdSeconds}`)
    .optional(),
});
export type Reservation = z.output<typeof reservationInput>;

/** The hold that is committed or released. */
export const holdInput = z.strictObject({
  hold: z
    .string('A hold is required.')
    .min(1, 'A hold is required.')
    .describe('As a reservation with `expires` answered it.'),
});

/** One record of a report. */
export const usageRecordInput = z.strictObject({ meter, amount, idempotency_key: idempotencyKey, at: at.optional() });
export type UsageRecord = z.output<typeof usageRecordInput>;

export const maxRecords = 1000;

/** The value that a gauge is set to. */
export const gaugeValueInput = z.strictObject({
  used: z
    .int(`The value must be a whole number from 0 to ${maxUsed}.`)
    .min(0, `The value must be a whole number from 0 to ${maxUsed}.`),
  at: at.optional(),
});
export type GaugeValue = z.output<typeof gaugeValueInput>;

const wholeDays = 'The number of days must be a whole number from 1 to 400.';

/** How many days of history to read, with today. */
export const usageDaysInput = z.coerce
  .number(wholeDays)
  .int(wholeDays)
  .min(1, wholeDays)
  .max(400, wholeDays)
  .default(30);

/**
 * Requires of the times of a body, by their fields, that they lie at most 35 days back and 5 minutes ahead.
 *
 * @throws AppError VALIDATION
 */
export function requireRecentTimes({ now }: Pick<App, 'now'>, times: Record<string, Date | undefined>): void {
  const latest = now().getTime() + aheadMilliseconds;
  const oldest = now().getTime() - oldestDays * dayMilliseconds;
  for (const [field, time] of Object.entries(times)) {
    if (time === undefined) continue;
    if (time.getTime() > latest) throw invalid({ [field]: 'The time is more than 5 minutes ahead.' });
    if (time.getTime() < oldest) throw invalid({ [field]: 'The time is more than 35 days ago.' });
  }
}

const keptMilliseconds = 48 * hourMilliseconds;

/** Returns the time, in ISO 8601, before which idempotency keys have expired and ended holds are forgotten. */
export function idempotencyKeyCutoff(now: Date): string {
  return new Date(now.getTime() - keptMilliseconds).toISOString();
}

/** The new idempotency keys of an organisation in a clock hour: what one customer can make this service store is bounded. */
const keysPerHour = 20_000;

export function maxNewKeys({ config }: Pick<App, 'config'>): number {
  return config.rateLimits ? keysPerHour : 2 ** 31 - 2;
}

/** The holds of an organisation that are open at a time. */
const openHolds = 10_000;

export function maxOpenHolds({ config }: Pick<App, 'config'>): number {
  return config.rateLimits ? openHolds : 2 ** 31 - 2;
}

/** Returns the AppError TOO_MANY: a hold must end before the next one. */
export function tooManyHolds(): AppError {
  const sentence = `An organisation has ${openHolds.toLocaleString('en-GB')} open holds at a time.`;
  return new AppError('TOO_MANY', sentence, { retryAfterSeconds: 1 });
}

/** Returns the AppError TOO_MANY, until the next clock hour. */
export function tooManyKeys(now: Date): AppError {
  const retryAfterSeconds = Math.ceil((hourMilliseconds - (now.getTime() % hourMilliseconds)) / 1000);
  const sentence = `An organisation has ${keysPerHour.toLocaleString('en-GB')} new idempotency keys in an hour.`;
  return new AppError('TOO_MANY', sentence, { retryAfterSeconds });
}

/** Deletes expired idempotency keys. Returns how many. */
export function deleteExpiredKeys(app: App): Promise<number> {
  return deleteInSteps(app.db, usageRequests, lte(usageRequests.at, new Date(idempotencyKeyCutoff(app.now()))));
}
