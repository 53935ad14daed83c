import { z } from 'zod';
import { isStorable } from './text.ts';

const longestAddress = 254;
const localPart = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const domainLabel = /^[\p{L}\p{M}\p{N}]([\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u;

/**
 * An e-mail address in the one form in which it is kept and compared: trimmed, NFKC,
 * lower-cased. Null for what is no address. Judged after it is normalised, because
 * normalising can make an @ or a dot out of another character.
 */
export function readAddress(text: string): string | null {
  if (!isStorable(text) || text.length > 4 * longestAddress) return null;

  const address = text.trim().normalize('NFKC').toLowerCase().normalize('NFKC');
  const [local = '', domain = '', ...rest] = address.split('@');
  const labels = domain.split('.');
  const right =
    rest.length === 0 &&
    address.length <= longestAddress &&
    local.length <= 64 &&
    localPart.test(local) &&
    labels.length > 1 &&
    labels.every((label) => domainLabel.test(label));
  return right ? address : null;
}

/** The address of a body's field, normalised. */
export const emailField = z.string({ error: 'Enter an e-mail address.' }).transform((text, context) => {
  const address = readAddress(text);
  if (address !== null) return address;

  context.addIssue('Enter an e-mail address such as name@example.com.');
  return z.NEVER;
});

export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}
