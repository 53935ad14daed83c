/** An object as it came from outside: every member may be missing or of any kind. */
export type Fields = Record<string, unknown>;

export function fields(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

/** A non-empty text that PostgreSQL can store. */
export function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && !value.includes('\u0000') ? value : null;
}

/** The id of a thing that may stand there in full. */
export function idOf(value: unknown): string | null {
  return text(value) ?? text(fields(value)?.id);
}

const lastSecond = 253_402_300_799;

/** A moment in whole seconds that every clock here can express. */
export function seconds(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= lastSecond ? value : null;
}

export function toDate(value: number | null): Date | null {
  return value === null ? null : new Date(value * 1000);
}
