import { perLanguage } from '#lib/language/language.ts';

const whole = perLanguage((locale) => new Intl.NumberFormat(locale));

/** "50,000" */
export function formatNumber(value: number): string {
  // The same in each language, without the time of a format.
  if (Number.isInteger(value) && value >= 0 && value < 1000) return String(value);
  return whole().format(value);
}

const percentage = perLanguage(
  (locale) => new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 2 }),
);

/** "25%", from the number before the sign. */
export function formatPercent(value: number): string {
  return percentage().format(value / 100);
}
