import { type MessageFormatElement, parse, TYPE } from '@formatjs/icu-messageformat-parser';

/** The placeholders of a text by name, in the order in which they occur: whether they decide about a plural. */
export type Placeholders = Map<string, { plural: boolean }>;

/** @throws SyntaxError if the text is not in ICU MessageFormat. */
export function placeholdersOf(text: string): Placeholders {
  const found: Placeholders = new Map();
  collect(parse(text, { ignoreTag: true, requiresOtherClause: true }), found);
  return found;
}

/** The forms of a text's plurals: 'one', 'other', '=0'. */
export function pluralsOf(text: string): string[] {
  return formsOf(parse(text, { ignoreTag: true }));
}

function formsOf(elements: MessageFormatElement[]): string[] {
  return elements.flatMap((element) => {
    if (element.type !== TYPE.plural && element.type !== TYPE.select) return [];
    const own = element.type === TYPE.plural ? Object.keys(element.options) : [];
    return [...own, ...Object.values(element.options).flatMap(({ value }) => formsOf(value))];
  });
}

function collect(elements: MessageFormatElement[], found: Placeholders): void {
  for (const element of elements) {
    if (element.type === TYPE.literal || element.type === TYPE.pound) continue;
    const plural = element.type === TYPE.plural || found.get(element.value)?.plural === true;
    found.set(element.value, { plural });
    if (element.type !== TYPE.plural && element.type !== TYPE.select) continue;
    for (const { value } of Object.values(element.options)) collect(value, found);
  }
}
