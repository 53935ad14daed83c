export interface Price {
  /** in the currency's minor unit */
  amount: number;
  currency: string;
  interval: string;
}

/** "£24", "£24.50", "¥3,000": no cents where there are none, no "US" before a dollar. */
export function amountInWords(price: Pick<Price, 'amount' | 'currency'>): string {
  const format = new Intl.NumberFormat('en-GB', {
    style: 'currency',
    currency: price.currency,
    currencyDisplay: 'narrowSymbol',
    trailingZeroDisplay: 'stripIfInteger',
  });
  const digits = format.resolvedOptions().maximumFractionDigits ?? 2;
  return format.format(price.amount / 10 ** digits);
}

/** "a month", "a year" */
export function intervalInWords(interval: string): string {
  return `a ${interval}`;
}
