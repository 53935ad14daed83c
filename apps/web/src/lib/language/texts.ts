import type { Texts } from '@gatehouse/languages/generated/texts';
import { messagesOf } from '@gatehouse/languages/messages';
import { catalogueOf } from '#catalogue';
import { language, locale, perLanguage } from './language.ts';

const made = perLanguage(() => new Map<string, unknown>());

/**
 * Returns a group of texts in the language of the page or request: `const t = texts('signIn');`. A text is a string,
 * or a function of the values of its placeholders: `t.continueWith({ idp })`. The groups stand in packages/languages.
 *
 * @throws in a browser, if the page has not loaded the file of the group: see `areasOf`.
 */
export function texts<Group extends keyof Texts>(group: Group): Texts[Group] {
  const groups = made();
  let messages = groups.get(group);
  if (messages === undefined) {
    const catalogue = catalogueOf(language())[group];
    if (typeof catalogue !== 'object' || Array.isArray(catalogue)) throw new Error(`texts of ${group} are not loaded`);
    messages = messagesOf(catalogue, locale());
    groups.set(group, messages);
  }
  return messages as Texts[Group];
}
