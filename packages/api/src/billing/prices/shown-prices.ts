import type { LivePrice } from '../../platform/db/schema/billing.ts';
import type { Plan, Price } from '../plans/plans.ts';

/** A price as readers show it. */
export type ShownPrice = Price & { price_source: 'provider' | 'declared' };

/**
 * Returns a tier's prices in a currency, in the order of the plans: the provider's where a look-up has told them, else the
 * declared ones. One that is not sold in the currency is shown in its own.
 */
export function shownPrices(plan: Pick<Plan, 'prices'>, live: LivePrice[], currency: string): ShownPrice[] {
  return plan.prices.map(({ interval, amounts }) => {
    const found = live.find((each) => each.for === interval)?.shown ?? null;
    const price = found ?? { interval, amounts, currency: Object.keys(amounts)[0] ?? currency };
    const shownIn = price.amounts[currency] === undefined ? price.currency : currency;
    return {
      amount: price.amounts[shownIn] ?? 0,
      currency: shownIn,
      interval: price.interval,
      price_source: found === null ? 'declared' : 'provider',
    };
  });
}
