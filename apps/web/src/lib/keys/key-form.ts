import type { RouterOutputs } from '#lib/router.ts';
import { text, typedPassword } from '../forms/form-fields.ts';

/** Only a key of the deployment may make password links. */
export type ShownKey = Omit<RouterOutputs['operators']['keys'][number], 'organisation' | 'password_links'> & {
  password_links?: boolean;
};
export type CreatedKey = RouterOutputs['keys']['create'];

/** What was typed into the form of a new key. */
export type TypedKey = { name: string; scope: string; days: string };

/** The fields of a new key that the way through the identity provider keeps, as the page's address holds them then. */
export const keptKeyFields = ['name', 'scope', 'days'];

/** What was typed before the way through the identity provider; undefined if nothing was. */
export function keptKey({ searchParams }: URL): TypedKey | undefined {
  const [name = '', scope = '', days = ''] = keptKeyFields.map((field) => searchParams.get(field) ?? '');
  return name || scope || days ? { name, scope, days } : undefined;
}

/**
 * The fields of a new key. Empty days mean a key that does not expire. What is not written in digits alone is no number,
 * which the procedure refuses: `Number` would read "1e3" as 1000.
 */
export function keyIn<Scope extends 'READ' | 'WRITE' | 'MANAGE' = 'READ' | 'WRITE'>(form: FormData) {
  const { name, scope, days } = typedKey(form);
  return {
    name,
    ...(scope !== '' && { scope: scope as Scope }),
    ...(days !== '' && { expires_in_days: /^\d+$/.test(days) ? Number(days) : Number.NaN }),
    ...typedPassword(form),
  };
}

/** The fields as they were typed, to show them again beside an error. */
export function typedKey(form: FormData): TypedKey {
  return { name: text(form, 'name'), scope: text(form, 'scope'), days: text(form, 'days').trim() };
}
