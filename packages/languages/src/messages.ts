import type { MessageFormatElement } from '@formatjs/icu-messageformat-parser';
import { IntlMessageFormat } from 'intl-messageformat';

/** What a language's file holds: texts in ICU MessageFormat by name, in groups. The browser gets those with placeholders parsed. */
export type Catalogue = { [name: string]: string | MessageFormatElement[] | Catalogue };

/**
 * A text with placeholders. `Text` and `Count` are their names; those of `Count` decide about a plural. It returns a
 * string, or, where a value is an object (a name that the page marks, a snippet), the parts of the sentence.
 */
export interface Message<Text extends string, Count extends string = never> {
  (values: Record<Text, string | number> & Record<Count, number>): string;
  <Part extends object>(values: Record<Text, string | number | Part> & Record<Count, number | Part>): (string | Part)[];
}

type Values = Record<string, string | number | object>;
type Messages = { [name: string]: string | ((values: Values) => string | (string | object)[]) | Messages };

/**
 * Returns the texts of a catalogue as pages use them: a string, or a function of the values of its placeholders.
 *
 * @throws where a function is called without one of its values.
 */
export function messagesOf(catalogue: Catalogue, locale: string): Messages {
  const messages = Object.entries(catalogue).map(([name, text]) => [name, messageOf(text, locale)]);
  return Object.fromEntries(messages);
}

function messageOf(text: Catalogue[string], locale: string): Messages[string] {
  if (typeof text === 'string' && !text.includes('{')) return text;
  if (typeof text === 'object' && !Array.isArray(text)) return messagesOf(text, locale);

  let format: IntlMessageFormat | undefined;
  return (values) => {
    // Parsed at its first use: most requests need few of a thousand texts.
    format ??= new IntlMessageFormat(text, locale, undefined, { ignoreTag: true });
    const formatted = format.format<object>(values);
    if (typeof formatted === 'string') return formatted;
    return Array.isArray(formatted) ? formatted : [formatted];
  };
}
