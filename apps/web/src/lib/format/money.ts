import { formatAmount } from '@gatehouse/api/providers/minor-units';
import type { Price } from '#lib/subscription.ts';

/** "£24", "£24.50", "¥3,000": no cents where there are none, no "US" before a dollar. */
export function formatMoney(price: Pick<Price, 'amount' | 'currency'>): string {
  return formatAmount(price, { currencyDisplay: 'narrowSymbol', trailingZeroDisplay: 'stripIfInteger' });
}

/** "a month", "a year" */
export function formatInterval(interval: string): string {
  return `a ${interval}`;
}
