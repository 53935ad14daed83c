import type { RouterOutputs } from '#lib/router.ts';
import { text } from '../forms/form-fields.ts';

export type ShownKey = Omit<RouterOutputs['operators']['keys'][number], 'organisation'>;
export type CreatedKey = RouterOutputs['keys']['create'];

/** What was typed into the form of a new key. */
export type TypedKey = { name: string; scope: string; days: string };

/** The fields of a new key. Empty days mean a key that does not expire. */
export function keyIn(form: FormData) {
  const { name, scope, days } = typedKey(form);
  return {
    name,
    ...(scope !== '' && { scope: scope as 'READ' | 'WRITE' }),
    ...(days !== '' && { expires_in_days: Number(days) }),
  };
}

/** The fields as they were typed, to show them again beside an error. */
export function typedKey(form: FormData): TypedKey {
  return { name: text(form, 'name'), scope: text(form, 'scope'), days: text(form, 'days').trim() };
}
