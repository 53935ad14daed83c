import type { App } from '../../app.ts';
import { planOf } from '../../billing/plans/plans.ts';
import type { TierPrices } from '../../billing/prices/read-prices.ts';
import type { Payment } from '../../platform/providers/payment/connection.ts';
import { readTaxAccount } from '../../platform/providers/payment/tax.ts';
import { type Finding, note, right, wrong } from './finding.ts';

const about = 'Tax';

/**
 * Checks, with PAYMENT_TAX=automatic, that the account can compute tax, is registered somewhere, and that each price says
 * whether tax is in it: a checkout is refused otherwise.
 *
 * @throws AppError PROVIDER_UNAVAILABLE.
 */
export async function checkTax({ config, plans }: App, { ask }: Payment, prices: TierPrices): Promise<Finding[]> {
  if (!config.payment?.tax) return [];
  const { isActive, missing, countries, hasDefaultBehavior } = await readTaxAccount(ask);
  if (!isActive) {
    const fields = missing.length > 0 ? `: ${missing.join(', ')}` : '';
    return [wrong(about, `The provider’s tax settings are not complete${fields}. Complete them there.`)];
  }
  const silent = prices.filter(({ found }) => found !== null && found.tax === null);
  const names = [...new Set(silent.map(({ tier }) => planOf(plans, tier).name))].join(', ');
  return [
    countries.length > 0
      ? right(about, `It is computed in ${countries.join(', ')}.`)
      : note(
          about,
          'The account is registered in no country, so the tax is always 0. Add registrations at the provider.',
        ),
    ...(silent.length > 0 && !hasDefaultBehavior
      ? [
          wrong(
            about,
            `The price of ${names} does not say whether tax is in it. Set its tax behaviour at the provider.`,
          ),
        ]
      : []),
  ];
}
