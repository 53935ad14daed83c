import type { Price } from '../provider/records.ts';

/**
 * The currencies whose amounts have no decimals, or three, as the real provider's
 * documentation lists them (https://docs.stripe.com/currencies). ugx is listed there
 * without decimals too, but is sent in hundredths.
 */
const decimals: Record<string, number> = {
  ...Object.fromEntries(
    'bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' ').map((code) => [code, 0]),
  ),
  ...Object.fromEntries('bhd jod kwd omr tnd'.split(' ').map((code) => [code, 3])),
};

/** Formats an amount in minor units: "£24.00". */
export function money(minor: number, currency: string): string {
  const digits = decimals[currency.toLowerCase()] ?? 2;
  const fixed = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return new Intl.NumberFormat('en-GB', { style: 'currency', currency, ...fixed }).format(minor / 10 ** digits);
}

/** Formats a price with its interval: "£24.00 a month". */
export function priceText(price: Price): string {
  const sum =
    price.unit_amount === null
      ? `${price.unit_amount_decimal} (minor units)`
      : money(price.unit_amount, price.currency);
  const { interval, interval_count: count = 1 } = price.recurring ?? {};
  if (!interval) return sum;
  return count === 1 ? `${sum} a ${interval}` : `${sum} every ${count} ${interval}s`;
}
