import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { ConfigError } from '../../config.ts';
import { defaultPlans } from './default-plans.ts';

export type Plans = z.output<typeof plansSchema>;
export type Plan = Plans['tiers'][number];
export type Tier = Plan['tier'];
export type PaidTier = Exclude<Tier, 'free'>;
export type Price = NonNullable<Plan['price']>;

export const paidTiers: readonly PaidTier[] = ['silver', 'gold'];

/**
 * The plans that a deployment sells: its PLANS_FILE, or the built-in ones.
 *
 * @throws ConfigError that names PLANS_FILE and what is wrong in it.
 */
export async function loadPlans(file: string | null): Promise<Plans> {
  if (file === null) return plansSchema.parse(defaultPlans);

  const read = plansSchema.safeParse(await readJson(file));
  if (read.success) return read.data;
  throw new ConfigError(
    read.error.issues.map((issue) => `PLANS_FILE ${[...issue.path, issue.message].join(' ')}`).join('\n'),
  );
}

async function readJson(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new ConfigError('PLANS_FILE names a file that cannot be read.', { cause });
  });
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ConfigError('PLANS_FILE must be valid JSON.', { cause });
  }
}

export function planOf(plans: Plans, tier: Tier): Plan {
  const plan = plans.tiers.find((each) => each.tier === tier);
  if (plan === undefined) throw new Error(`no plan for the tier ${tier}`);
  return plan;
}

const price = z.strictObject({
  amount: z.int('must be a whole number of minor units.').nonnegative('must not be negative.'),
  currency: z.string().regex(/^[a-z]{3}$/, 'must be a currency such as gbp.'),
  interval: z.enum(['day', 'week', 'month', 'year'], 'must be day, week, month or year.'),
});

const limit = z.int('must be a whole number, or null for no limit.').nonnegative('must not be negative.').nullable();

function plan<Name extends string, Cost extends z.ZodType>(tier: Name, cost: Cost) {
  return z.strictObject({
    tier: z.literal(tier, `must be "${tier}": the tiers are free, silver, gold, in this order.`),
    name: z.string().trim().min(1, 'must not be empty.').max(60, 'must be at most 60 characters.'),
    price: cost,
    limits: z.record(z.string(), limit),
    features: z.record(z.string(), z.boolean('must be true or false.')),
  });
}

/** What PLANS_FILE called the kinds of meters before; still accepted. */
const earlierKinds: Record<string, string> = { counting: 'counter', standing: 'gauge' };

const meter = z.strictObject({
  meter: z.string().regex(/^[a-z][a-z0-9_]{0,59}$/, 'must be a name such as api_calls.'),
  name: z.string().trim().min(1, 'must not be empty.'),
  kind: z.preprocess(
    (kind) => earlierKinds[String(kind)] ?? kind,
    z.enum(['counter', 'gauge'], 'must be counter or gauge.'),
  ),
});

const plansSchema = z
  .strictObject({
    meters: z.array(meter),
    tiers: z.tuple(
      [plan('free', z.null('must be null.')), plan('silver', price), plan('gold', price)],
      'must be the three tiers free, silver, gold, in this order.',
    ),
  })
  .check(({ value: { meters, tiers }, issues }) => {
    const names = meters.map((each) => each.meter);
    if (new Set(names).size < names.length) {
      issues.push({ code: 'custom', path: ['meters'], message: 'must each have a name of their own.', input: meters });
    }
    const features = Object.keys(tiers[0].features);
    for (const [index, { limits, features: flags }] of tiers.entries()) {
      if (!sameNames(Object.keys(limits), names)) {
        const message = `must be a limit for each meter: ${names.join(', ')}.`;
        issues.push({ code: 'custom', path: ['tiers', index, 'limits'], message, input: limits });
      }
      if (!sameNames(Object.keys(flags), features)) {
        const message = `must be the same in each tier: ${features.join(', ')}.`;
        issues.push({ code: 'custom', path: ['tiers', index, 'features'], message, input: flags });
      }
    }
  });

function sameNames(some: string[], others: string[]): boolean {
  return [...some].sort().join() === [...others].sort().join();
}
