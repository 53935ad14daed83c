import type { Price } from '../records.ts';

/** "£24.00" */
export function money(minor: number, currency: string): string {
  const format = new Intl.NumberFormat('en-GB', { style: 'currency', currency: currency.toUpperCase() });
  return format.format(minor / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}

/** "£24.00 a month" */
export function priceWords(price: Price): string {
  const sum =
    price.unit_amount === null
      ? `${price.unit_amount_decimal} (minor units)`
      : money(price.unit_amount, price.currency);
  const { interval, interval_count: count = 1 } = price.recurring ?? {};
  if (!interval) return sum;
  return count === 1 ? `${sum} a ${interval}` : `${sum} every ${count} ${interval}s`;
}
