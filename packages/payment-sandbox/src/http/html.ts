/** Markup whose values have been escaped. */
export interface Html {
  readonly markup: string;
}

type Content = Html | string | number | null | undefined | false | readonly Content[];

/** Builds markup and escapes every value that is not markup itself. Null, undefined and false become empty. */
export function html(parts: TemplateStringsArray, ...values: Content[]): Html {
  return { markup: parts.map((part, index) => part + render(values[index])).join('') };
}

function render(value: Content): string {
  if (value === null || value === undefined || value === false) return '';
  if (Array.isArray(value)) return value.map(render).join('');
  if (typeof value === 'object') return (value as Html).markup;
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
