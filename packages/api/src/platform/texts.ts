import { everyLanguage } from '@gatehouse/languages/generated/every-language';
import { type Language, languages } from '@gatehouse/languages/generated/languages';
import type { Texts } from '@gatehouse/languages/generated/texts';
import { type Catalogue, messagesOf } from '@gatehouse/languages/messages';

const made = new Map<string, unknown>();

/** Returns a group of texts of packages/languages in a language: `textsIn('de', 'apiError')`. */
export function textsIn<Group extends keyof Texts>(language: Language, group: Group): Texts[Group] {
  const key = `${language} ${group}`;
  let texts = made.get(key);
  if (texts === undefined) {
    texts = messagesOf(everyLanguage[language][group] as Catalogue, languages[language].locale);
    made.set(key, texts);
  }
  return texts as Texts[Group];
}
