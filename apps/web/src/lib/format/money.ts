import { formatAmount } from '@gatehouse/api/platform/providers/minor-units';
import { locale } from '#lib/language/language.ts';
import { texts } from '#lib/language/texts.ts';
import type { Price } from '#lib/subscription.ts';

/** "£24", "£24.50", "¥3,000": no cents where there are none, no "US" before a dollar. */
export function formatMoney(price: Pick<Price, 'amount' | 'currency'>): string {
  return formatAmount(price, {
    locale: locale(),
    currencyDisplay: 'narrowSymbol',
    trailingZeroDisplay: 'stripIfInteger',
  });
}

/** "£24.00", "JP¥2,400": every decimal and an unambiguous currency, for operators. */
export function formatFullAmount(amount: Pick<Price, 'amount' | 'currency'>): string {
  return formatAmount(amount, { locale: locale() });
}

/** "/ month", "/ year", after an amount. */
export function formatInterval(interval: string): string {
  const { intervals, anInterval } = texts('money');
  return Object.hasOwn(intervals, interval) ? intervals[interval as keyof typeof intervals] : anInterval({ interval });
}
