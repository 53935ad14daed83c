import { perLanguage } from '#lib/language/language.ts';

const conjunction = perLanguage((locale) => new Intl.ListFormat(locale, { type: 'conjunction' }));

/** "Silver, Gold and Platinum". */
export function formatList(names: string[]): string {
  return conjunction().format(names);
}
