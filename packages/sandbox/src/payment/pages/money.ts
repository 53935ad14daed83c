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

/** "3 December 2026" */
export function day(seconds: number): string {
  return new Date(seconds * 1000).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
}

/** "3 December 2026 at 14:05:09 UTC" */
export function moment(seconds: number): string {
  const time = new Date(seconds * 1000).toISOString().slice(11, 19);
  return `${day(seconds)} at ${time} UTC`;
}
