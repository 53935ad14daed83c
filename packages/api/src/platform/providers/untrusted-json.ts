/** An object of untrusted JSON: each member may be missing or have any type. */
export type Fields = Record<string, unknown>;

/** The value as an object; null for anything else, arrays included. */
export function fields(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

/** The value as a non-empty text that PostgreSQL can store, else null. */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && !value.includes('\u0000') ? value : null;
}

/** The id of an object that is given by its id or expanded; null if neither. */
export function idOf(value: unknown): string | null {
  return textOf(value) ?? textOf(fields(value)?.id);
}

const lastSecond = 253_402_300_799;

/** The value as a time in whole seconds from 1970 to 9999, else null. */
export function seconds(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= lastSecond ? value : null;
}
