import { isUtf8 } from 'node:buffer';
import { error, type RequestEvent } from '@sveltejs/kit';

const isEncoded = /^application\/x-www-form-urlencoded/i;
const isForm = /^(application\/x-www-form-urlencoded|multipart\/form-data)\s*(;|$)/i;

/**
 * The fields of a form post.
 *
 * @throws Kit's error with status 415 for a body that is not a form, and 400 for one that cannot be parsed or is not UTF-8.
 */
export async function formFields({ locals, request }: Pick<RequestEvent, 'locals' | 'request'>): Promise<FormData> {
  const type = request.headers.get('content-type') ?? '';
  if (!isForm.test(type)) error(415, 'Send the fields as a form.');

  const bytes = locals.body;
  if (!isUtf8(isEncoded.test(type) ? unescaped(bytes) : bytes)) return unreadable();
  return new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData().catch(unreadable);
}

/**
 * The bytes that the escapes of an encoded form stand for. Parsing would replace those that are not UTF-8 by U+FFFD, so
 * that different passwords would be equal.
 */
function unescaped(bytes: Buffer): Buffer {
  const escapes = /%([\da-f]{2})/gi;
  const plain = bytes.toString('latin1').replace(escapes, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(plain, 'latin1');
}

/** A text field, as it was typed; empty when it is missing or a file. */
export function text(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value : '';
}

/** Whether a checkbox was ticked. */
export function ticked(form: FormData, name: string): boolean {
  return text(form, name) === 'true';
}

/** The names of the checkboxes that were ticked, for the page that shows the form again. */
export function tickedFields(form: FormData): string[] {
  return [...form.keys()].filter((name) => ticked(form, name));
}

/** All text values of a field that may occur more than once. */
export function textList(form: FormData, name: string): string[] {
  return form.getAll(name).filter((value) => typeof value === 'string');
}

/** The password, and the codes of a second factor, of a form that asks for them; nothing where it has no such field. */
export function typedPassword(form: FormData): { password?: string; totp?: string; recovery_code?: string } {
  const names = (['password', 'totp', 'recovery_code'] as const).filter((name) => form.has(name));
  return Object.fromEntries(names.map((name) => [name, text(form, name)]));
}

function unreadable(): never {
  error(400, 'This form could not be read.');
}
