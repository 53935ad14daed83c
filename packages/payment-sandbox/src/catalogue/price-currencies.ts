import type Stripe from 'stripe';
import type { Provider } from '../provider/provider.ts';
import type { CurrencyOption, Price } from '../provider/records.ts';
import { refused } from '../routing/api-error.ts';
import type { Rule } from '../routing/parameters.ts';

/** The parameter `currency_options`: further currencies of a price, each with its own amount. */
export const currencyOptionRules: Rule = {
  each: {
    hash: {
      custom_unit_amount: 'unsupported',
      tax_behavior: { one: ['exclusive', 'inclusive', 'unspecified'] },
      tiers: 'unsupported',
      unit_amount: 'integer',
      unit_amount_decimal: 'string',
    },
  },
};

type Options = Record<string, Stripe.PriceCreateParams.CurrencyOptions>;

/**
 * Sets the amounts of a price in further currencies. An answer shows them only if `currency_options` is expanded, and an
 * event never does.
 *
 * @throws ApiError if one is no currency or the price's own.
 */
export function setCurrencyOptions(provider: Provider, price: Price, wanted: Options = {}): void {
  const known = provider.state.currency_options[price.id] ?? { [price.currency]: ownOption(price) };
  for (const [name, option] of Object.entries(wanted)) {
    const currency = name.toLowerCase();
    if (!/^[a-z]{3}$/.test(currency) || currency === price.currency) {
      throw refused(`Invalid currency: ${currency}. The price has its own currency already in \`currency\`.`, {
        param: `currency_options[${name}]`,
      });
    }
    known[currency] = optionOf(option);
  }
  provider.state.currency_options[price.id] = known;
}

function ownOption({ tax_behavior, unit_amount, unit_amount_decimal }: Price): CurrencyOption {
  return { custom_unit_amount: null, tax_behavior, unit_amount, unit_amount_decimal };
}

function optionOf({ tax_behavior, unit_amount, unit_amount_decimal }: Options[string]): CurrencyOption {
  const decimal = String(unit_amount_decimal ?? unit_amount ?? 0);
  const amount = Number(decimal);
  return {
    custom_unit_amount: null,
    tax_behavior: tax_behavior ?? 'unspecified',
    unit_amount: Number.isInteger(amount) ? amount : null,
    unit_amount_decimal: decimal,
  };
}

/** Returns the currencies in which a price is sold, its own one first. */
export function currenciesOf(provider: Provider, price: Price): string[] {
  return [...new Set([price.currency, ...Object.keys(provider.state.currency_options[price.id] ?? {})])];
}

/** Returns the amount of one unit in a currency, in minor units; 0 if the price has no fixed amount. */
export function unitAmount(provider: Provider, price: Price, currency: string): number {
  if (price.currency === currency) return price.unit_amount ?? 0;
  return provider.state.currency_options[price.id]?.[currency]?.unit_amount ?? 0;
}

/** Returns a price as it reads in one of its currencies, for pages. */
export function priceIn(provider: Provider, price: Price, currency: string): Price {
  if (price.currency === currency) return price;
  const { unit_amount = null, unit_amount_decimal = null } =
    provider.state.currency_options[price.id]?.[currency] ?? {};
  return { ...price, currency, unit_amount, unit_amount_decimal };
}

/**
 * Returns the currency in which prices are bought: the wanted one, else that of the first price.
 *
 * @throws ApiError if a price is not sold in it, or if the customer has a live subscription in another one.
 */
export function currencyOfSale(
  provider: Provider,
  prices: Price[],
  { wanted, customer }: { wanted: string | undefined; customer: string | null },
): string {
  const currency = wanted?.toLowerCase() ?? prices[0]?.currency ?? 'gbp';
  for (const price of prices) requireCurrency(provider, price, currency, 'currency');
  const other = Object.values(provider.state.subscriptions).find(
    (one) => one.customer === customer && !finalStatuses.includes(one.status) && one.currency !== currency,
  );
  if (other === undefined) return currency;
  throw refused(
    `You cannot combine currencies on a single customer. This customer has an active subscription, subscription schedule, discount, quote, or invoice item with currency ${other.currency}.`,
  );
}

const finalStatuses: string[] = ['canceled', 'incomplete_expired'];

/** @throws ApiError if a price is not sold in a currency. */
export function requireCurrency(provider: Provider, price: Price, currency: string, param: string): void {
  const sold = currenciesOf(provider, price);
  if (sold.includes(currency)) return;
  const names = sold.map((each) => `\`${each}\``).join(', ');
  throw refused(
    `The price specified only supports ${names}. This doesn't match the expected currency: \`${currency}\`.`,
    { param },
  );
}
