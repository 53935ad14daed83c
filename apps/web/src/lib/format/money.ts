import { formatAmount } from '@gatehouse/api/providers/minor-units';
import type { Price } from '#lib/subscription.ts';

/** "£24", "£24.50", "¥3,000": no cents where there are none, no "US" before a dollar. */
export function formatMoney(price: Pick<Price, 'amount' | 'currency'>): string {
  return formatAmount(price, { currencyDisplay: 'narrowSymbol', trailingZeroDisplay: 'stripIfInteger' });
}

/** "£24.00", "JP¥2,400": every decimal and an unambiguous currency, for operators. */
export function formatFullAmount(amount: Pick<Price, 'amount' | 'currency'>): string {
  return formatAmount(amount);
}

/** "a month", "a year" */
export function formatInterval(interval: string): string {
  return `a ${interval}`;
}
