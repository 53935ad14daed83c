import type { App } from '../../app.ts';
import type { NameOfPrice } from './event-change.ts';

/** Returns a function that names the plan which is sold under a lookup key or price id. */
export function nameOfPrice(app: App): NameOfPrice {
  const names = Object.entries(app.plans.priceNames);
  return (price) => {
    const tier = names.find(([, name]) => name === price)?.[0];
    return app.plans.tiers.find((each) => each.tier === tier)?.name ?? price;
  };
}
