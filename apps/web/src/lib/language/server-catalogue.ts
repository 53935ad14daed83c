import { everyLanguage } from '@gatehouse/languages/generated/every-language';
import type { Catalogue } from '@gatehouse/languages/messages';
import type { Language } from './language.ts';

/** The texts of a language. The server has those of every language. */
export function catalogueOf(language: Language): Catalogue {
  return everyLanguage[language];
}

/** Nothing to load: see browser-catalogue.ts, which a browser gets in place of this file. */
export async function loadTexts(_routeId: string | null): Promise<void> {}
