import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { type Config, ConfigError } from '../../platform/config.ts';
import { codeOf } from '../../platform/errors.ts';
import { type Message, message } from '../../platform/messages.ts';
import { defaultPlans } from './default-plans.ts';

type PlansFile = z.output<typeof plansSchema>;
export type Plans = PlansFile & {
  /** What is sold, by tier in rising rank; the first price of a tier stands first. */
  sold: SoldPrice[];
  /** The currencies that an organisation can choose, the deployment's first. */
  currencies: string[];
};
/** A tier for one interval. */
export type SoldPrice = PlanPrice & {
  tier: PaidTier;
  /** The lookup key or price id under which it is sold. */
  name: string;
};
export type Plan = Plans['tiers'][number];
/** The identifier of a tier in the plans, such as `gold`. */
export type Tier = string;
/** The identifier of a tier that has a price. */
export type PaidTier = Tier;
export type Price = z.output<typeof price>;
export type Interval = Price['interval'];
/** What a tier costs per interval: amounts in minor units by currency. */
export type PlanPrice = { interval: Interval; amounts: Record<string, number> };

/**
 * Reads the plans that a deployment sells: its PLANS_FILE, or the built-in ones. The first price of a tier is named as
 * configured by PAYMENT_PRICE_<TIER>; every other one by its lookup key, such as `gold_yearly`.
 *
 * @throws ConfigError if the file cannot be read or is invalid; its message names PLANS_FILE and each mistake.
 */
export async function loadPlans({ plansFile, prices }: Pick<Config, 'plansFile' | 'prices'>): Promise<Plans> {
  const sold = plansFile === null ? plansSchema.parse(defaultPlans) : await readPlans(plansFile);
  const [, first] = sold.tiers;
  return {
    ...sold,
    sold: sold.tiers.flatMap(({ tier, prices: all, hasOnePrice }) =>
      all.map((each, index) => {
        const configured = index === 0 ? prices[priceVariable(tier)] : undefined;
        return { tier, ...each, name: configured ?? `${tier}_${hasOnePrice ? 'monthly' : adverbs[each.interval]}` };
      }),
    ),
    currencies: Object.keys(first.prices[0]?.amounts ?? {}),
  };
}

const adverbs: Record<Interval, string> = { day: 'daily', week: 'weekly', month: 'monthly', year: 'yearly' };

async function readPlans(file: string): Promise<PlansFile> {
  const read = plansSchema.safeParse(await readJson(file));
  if (read.success) return read.data;
  throw new ConfigError(
    read.error.issues.map((issue) => `PLANS_FILE: ${file}: ${[...issue.path, issue.message].join(' ')}`).join('\n'),
  );
}

async function readJson(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new ConfigError(`PLANS_FILE: ${file} cannot be read (${codeOf(cause)}).`, { cause });
  });
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError(`PLANS_FILE: ${file} is not valid JSON: ${reason}.`, { cause });
  }
}

/** The identifiers of the paid tiers, in rising rank. */
export function paidTiers({ tiers: [, ...paid] }: PlansFile): PaidTier[] {
  return paid.map(({ tier }) => tier);
}

/** A value for each paid tier, in rising rank. */
export function forPaidTiers<Value>(plans: PlansFile, make: (tier: PaidTier) => Value): Record<PaidTier, Value> {
  return Object.fromEntries(paidTiers(plans).map((tier) => [tier, make(tier)]));
}

/** Returns a message with the names of the paid tiers: "Choose the Silver or Gold plan." */
export function choosePaidPlan({ tiers: [, ...paid] }: Plans): Message {
  return message('choose_paid_plan', { plans: { any: paid.map(({ name }) => name) } });
}

/** The plan of a tier. @throws Error if the plans do not hold the tier. */
export function planOf(plans: Plans, tier: Tier): Plan {
  const plan = plans.tiers.find((each) => each.tier === tier);
  if (plan === undefined) throw new Error(`no plan for the tier ${tier}`);
  return plan;
}

const amount = z.int('must be a whole number of minor units.').nonnegative('must not be negative.');
const currency = z.string().regex(/^[a-z]{3}$/, 'must be a currency such as gbp.');

const price = z.strictObject({
  amount,
  currency,
  interval: z.enum(['day', 'week', 'month', 'year'], 'must be day, week, month or year.'),
});

const priceList = z
  .array(
    z.strictObject({
      interval: z.enum(['month', 'year'], 'must be month or year.'),
      amounts: z
        .record(currency, amount, { error: ({ code }) => wrongKey(code, 'must name currencies such as gbp.') })
        .refine((amounts) => Object.keys(amounts).length > 0, 'must have an amount in at least one currency.'),
    }),
  )
  .min(1, 'must have at least one price.')
  .refine(
    (all) => new Set(all.map(({ interval }) => interval)).size === all.length,
    'must have one price an interval.',
  );

function wrongKey(code: string, sentence: string): string | undefined {
  return code === 'invalid_key' ? sentence : undefined;
}

const limit = z.int('must be a whole number, or null for no limit.').nonnegative('must not be negative.').nullable();

const noTrial = z.undefined('must not be there: the first tier costs nothing.').optional();

/** `card`: whether a card is asked for before the trial. Without one at its end the subscription is paused. */
const trial = z
  .strictObject({
    days: z.int('must be a whole number of days.').min(1, 'must be at least 1.').max(730, 'must be at most 730.'),
    card: z.boolean('must be true or false.').default(true),
  })
  .optional();

const planMembers = {
  name: z.string().trim().min(1, 'must not be empty.').max(60, 'must be at most 60 characters.'),
  limits: z.record(z.string(), limit),
  features: z.record(z.string(), z.boolean('must be true or false.')),
};

const tierError: z.core.$ZodErrorMap = ({ code }) =>
  code === 'invalid_type' ? 'must be a tier: a paid one follows the free one.' : undefined;

const freePlan = z
  .strictObject(
    {
      tier: z.literal('free', 'must be "free": the first tier costs nothing.'),
      price: z.null('must be null.'),
      trial: noTrial,
      ...planMembers,
    },
    { error: tierError },
  )
  .transform((plan) => ({ ...plan, prices: [] as PlanPrice[], hasOnePrice: false }));

const paidPlan = z
  .strictObject(
    {
      /** The variable PAYMENT_PRICE_<TIER> and the lookup keys contain the name. */
      tier: z.string().regex(/^[a-z][a-z0-9_]{0,39}$/, 'must be a name such as gold.'),
      price: price.optional(),
      prices: priceList.optional(),
      trial,
      ...planMembers,
    },
    { error: tierError },
  )
  .transform((plan, ctx) => {
    const prices: PlanPrice[] = plan.prices ?? (plan.price === undefined ? [] : [priceEntry(plan.price)]);
    const shown = prices.find(({ interval }) => interval === 'month') ?? prices[0];
    const [currency, amount] = Object.entries(shown?.amounts ?? {})[0] ?? [];
    if (shown === undefined || currency === undefined || amount === undefined || (plan.price && plan.prices)) {
      const message = 'must have either a price or prices.';
      ctx.issues.push({ code: 'custom', message, input: plan });
      return z.NEVER;
    }
    // `price` is the monthly price in the deployment's currency, else the first one.
    return { ...plan, price: { amount, currency, interval: shown.interval }, prices, hasOnePrice: !plan.prices };
  });

function priceEntry({ amount, currency, interval }: z.output<typeof price>): PlanPrice {
  return { interval, amounts: { [currency]: amount } };
}

/** The earlier words for the kinds of meters, which PLANS_FILE may still use. */
const earlierKinds: Record<string, string> = { counting: 'counter', standing: 'gauge' };

/** The paths beside /api/usage/METER. */
const actionsOfUsage = ['commit', 'release', 'report', 'reserve'];

const meter = z.strictObject({
  meter: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,59}$/, 'must be a name such as api_calls.')
    .refine((name) => !actionsOfUsage.includes(name), 'must not be commit, release, report or reserve.'),
  name: z.string().trim().min(1, 'must not be empty.'),
  kind: z.preprocess(
    (kind) => earlierKinds[String(kind)] ?? kind,
    z.enum(['counter', 'gauge'], 'must be counter or gauge.'),
  ),
  /** When a counter starts at zero again. A gauge never does. */
  resets: z
    .enum(['calendar_month', 'subscription_period'], 'must be calendar_month or subscription_period.')
    .default('calendar_month'),
});

const plansSchema = z
  .strictObject({
    meters: z.array(meter),
    tiers: z.tuple([freePlan, paidPlan], paidPlan, 'must be the free tier, then at least one paid tier.'),
  })
  .check(({ value: { meters, tiers }, issues }) => {
    const names = meters.map((each) => each.meter);
    if (new Set(names).size < names.length) {
      issues.push({ code: 'custom', path: ['meters'], message: 'must each have a name of their own.', input: meters });
    }
    if (new Set(tiers.map(({ tier }) => tier)).size < tiers.length) {
      issues.push({ code: 'custom', path: ['tiers'], message: 'must each have a tier of their own.', input: tiers });
    }
    issues.push(...priceIssues(tiers));
    const features = Object.keys(tiers[0].features);
    const shared = features.filter((feature) => names.includes(feature));
    if (shared.length > 0) {
      const message = `must not have the name of a meter: ${shared.join(', ')}.`;
      issues.push({ code: 'custom', path: ['tiers', 0, 'features'], message, input: tiers[0].features });
    }
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

/** All paid tiers have the same intervals and currencies: the page has one switch, a customer one currency. */
function priceIssues([, ...tiers]: { prices: PlanPrice[]; hasOnePrice: boolean }[]) {
  const [first] = tiers;
  // A tier that has a mistake of its own is not compared.
  if (first === undefined || !tiers.every(({ prices }) => Array.isArray(prices))) return [];
  const ofOnePrice = tiers.every(({ hasOnePrice }) => hasOnePrice);
  const intervals = first.prices.map(({ interval }) => interval);
  const currencies = Object.keys(first.prices[0]?.amounts ?? {});
  return tiers.flatMap(({ prices }, index) => {
    const path = ['tiers', index + 1, ofOnePrice ? 'price' : 'prices'];
    const those = ofOnePrice ? 'that' : 'those';
    const issue = (must: string) => {
      const message = `must ${must}, as ${those} of the first paid tier.`;
      return [{ code: 'custom' as const, path, message, input: prices }];
    };
    const own = prices.map(({ interval }) => interval);
    if (own.join() !== intervals.join()) return issue(`be for ${intervals.join(', ')}`);
    if (prices.every(({ amounts }) => Object.keys(amounts).join() === currencies.join())) return [];
    const named = currencies.join(', ');
    return issue(ofOnePrice ? `be in ${named}` : `have amounts in ${named} in this order`);
  });
}

function sameNames(some: string[], others: string[]): boolean {
  return [...some].sort().join() === [...others].sort().join();
}

/** The variable that names a tier's price: PAYMENT_PRICE_GOLD. */
export function priceVariable(tier: PaidTier): string {
  return `PAYMENT_PRICE_${tier.toUpperCase()}`;
}

/** A sentence for each configured price whose tier the plans do not hold: probably a misspelt name. */
export function unusedPriceWarnings({ config, plans }: { config: Pick<Config, 'prices'>; plans: Plans }): string[] {
  const used = paidTiers(plans).map(priceVariable);
  return Object.keys(config.prices)
    .filter((name) => !used.includes(name))
    .map((name) => `${name} names the price of no plan and is ignored. The plans have ${used.join(', ')}.`);
}
