import { perLanguage } from '#lib/language/language.ts';

const whole = perLanguage((locale) => new Intl.NumberFormat(locale));

/** "50,000" */
export function formatNumber(value: number): string {
  return whole().format(value);
}

const percentage = perLanguage(
  (locale) => new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 2 }),
);

/** "25%", from the number before the sign. */
export function formatPercent(value: number): string {
  return percentage().format(value / 100);
}
