import { type Language, languages } from '@gatehouse/languages/generated/languages';
import type { Texts } from '@gatehouse/languages/generated/texts';
import type { Message as Format } from '@gatehouse/languages/messages';
import { textsIn } from './texts.ts';

type Errors = Texts['apiError'];

/** The name of an error's text in packages/languages/<language>/api/errors.json. */
export type MessageId = keyof Errors;

/** A list in a sentence: "Silver or Gold" (any), "Silver and Gold" (all). */
type List = { any: string[] } | { all: string[] };

/** A day in a sentence, of a time in ISO 8601: "22 December", in UTC. */
type Day = { day: string };

type Value = string | number | List | Day;

type Values = Record<string, Value>;

type ValuesOf<Text> =
  Text extends Format<infer Name, infer Count> ? [values: Record<Name, Value> & Record<Count, number>] : [];

/** What an error says, in no language yet: the code of its text, and the values of the text's placeholders. */
export type Message = { readonly id: MessageId; readonly values: Values };

/** Returns what an error says: `message('password_too_short', { minimum: 8 })`. */
export function message<Id extends MessageId>(id: Id, ...[values]: ValuesOf<Errors[Id]>): Message {
  return { id, values: values ?? {} };
}

/** Returns the sentence of a message in a language. */
export function sentenceIn(language: Language, { id, values }: Message): string {
  const text = textsIn(language, 'apiError')[id] as string | Format<string>;
  if (typeof text === 'string') return text;
  const written = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'object' ? writtenIn(language, value) : value,
  ]);
  return text(Object.fromEntries(written));
}

function writtenIn(language: Language, list: List | Day): string {
  const { locale } = languages[language];
  if ('day' in list) {
    const style = { day: 'numeric', month: 'long', timeZone: 'UTC' } as const;
    return new Intl.DateTimeFormat(locale, style).format(new Date(list.day));
  }
  if ('any' in list) return new Intl.ListFormat(locale, { type: 'disjunction' }).format(list.any);
  return new Intl.ListFormat(locale, { type: 'conjunction' }).format(list.all);
}

const mark = 'message:';

/** A message as the error of a Zod schema, which carries strings only: `z.string(zodMessage('enter_password'))`. */
export function zodMessage<Id extends MessageId>(id: Id, ...values: ValuesOf<Errors[Id]>): string {
  return mark + JSON.stringify(message(id, ...values));
}

/** Returns the message of a Zod issue, or the sentence of one that has none: of Zod's own, or for programs alone. */
export function readZodMessage(text: string): Message | string {
  return text.startsWith(mark) ? (JSON.parse(text.slice(mark.length)) as Message) : text;
}
