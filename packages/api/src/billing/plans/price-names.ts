import type { App } from '../../app.ts';
import { forPaidTiers, type PaidTier, paidTiers } from './plans.ts';

type Named = Pick<App, 'config' | 'plans'>;

/** The variable that names a tier's price: PAYMENT_PRICE_GOLD. */
export function priceVariable(tier: PaidTier): string {
  return `PAYMENT_PRICE_${tier.toUpperCase()}`;
}

/** The lookup key or price id under which each paid tier is sold: as configured, else `gold_monthly`. */
export function priceNames({ config, plans }: Named): Record<PaidTier, string> {
  return forPaidTiers(plans, (tier) => config.prices[priceVariable(tier)] ?? `${tier}_monthly`);
}

/** A sentence for each configured price whose tier the plans do not hold: probably a misspelt name. */
export function unusedPriceWarnings({ config, plans }: Named): string[] {
  const used = paidTiers(plans).map(priceVariable);
  return Object.keys(config.prices)
    .filter((name) => !used.includes(name))
    .map((name) => `${name} names the price of no plan and is ignored. The plans have ${used.join(', ')}.`);
}
