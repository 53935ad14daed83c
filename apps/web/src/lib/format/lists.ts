import { perLanguage } from '#lib/language/language.ts';

const both = perLanguage((locale) => new Intl.ListFormat(locale, { type: 'conjunction' }));

/** "Silver, Gold and Platinum". */
export function formatList(names: string[]): string {
  return both().format(names);
}
