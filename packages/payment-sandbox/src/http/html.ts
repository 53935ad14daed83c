/** A piece of markup that is safe to put into a page as it stands. */
export interface Html {
  readonly markup: string;
}

type Content = Html | string | number | null | undefined | false | readonly Content[];

/** Markup with every value escaped, save for values that are markup already. Null, undefined and false vanish. */
export function html(parts: TemplateStringsArray, ...values: Content[]): Html {
  return { markup: parts.map((part, index) => part + render(values[index])).join('') };
}

function render(value: Content): string {
  if (value === null || value === undefined || value === false) return '';
  if (Array.isArray(value)) return value.map(render).join('');
  if (typeof value === 'object') return (value as Html).markup;
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
