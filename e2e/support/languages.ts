import { everyLanguage } from '@gatehouse/languages/generated/every-language';
import { type Language, languages } from '@gatehouse/languages/generated/languages';
import type { Texts } from '@gatehouse/languages/generated/texts';
import { messagesOf } from '@gatehouse/languages/messages';

/** The texts of the pages in a language, by which a story finds buttons and fields. */
export function textsIn(language: Language): Texts {
  return messagesOf(everyLanguage[language], languages[language].locale) as unknown as Texts;
}

/** Any value, in a text that `matching` looks for. */
export const any = '•';

/** Matches what contains one of the texts, with any value in the place of each `any`. */
export function matching(...texts: string[]): RegExp {
  const escaped = texts.map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll(any, '.+'));
  return new RegExp(`(${escaped.join('|')})`, 'u');
}
