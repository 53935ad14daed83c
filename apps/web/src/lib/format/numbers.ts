import { perLanguage } from '#lib/language/language.ts';

const whole = perLanguage((locale) => new Intl.NumberFormat(locale));

/** "50,000" */
export function formatNumber(value: number): string {
  return whole().format(value);
}
