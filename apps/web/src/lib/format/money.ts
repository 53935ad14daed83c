import { formatAmount } from '@gatehouse/api/providers/minor-units';

export interface Price {
  /** in the payment provider's minor units */
  amount: number;
  currency: string;
  interval: string;
}

/** "£24", "£24.50", "¥3,000": no cents where there are none, no "US" before a dollar. */
export function formatMoney(price: Pick<Price, 'amount' | 'currency'>): string {
  return formatAmount(price, { currencyDisplay: 'narrowSymbol', trailingZeroDisplay: 'stripIfInteger' });
}

/** "a month", "a year" */
export function formatInterval(interval: string): string {
  return `a ${interval}`;
}
