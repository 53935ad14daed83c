import { domainToASCII, domainToUnicode } from 'node:url';
import { z } from 'zod';
import { isStorable } from './text.ts';

const longestAddress = 254;
const localPart = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const typedLabel = /^[\p{L}\p{M}\p{N}]([\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?$/u;
const asciiLabel = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Returns an e-mail address in the one form in which it is stored, compared and mailed:
 * trimmed, NFKC, lower-cased, the domain in its ASCII form (UTS #46). Returns null for a
 * text that is not an address. The text is checked after it is normalised, because
 * normalising can make an @ or a dot out of another character.
 */
export function readAddress(text: string): string | null {
  if (!isStorable(text) || text.length > 4 * longestAddress) return null;

  const typed = text.trim().normalize('NFKC').toLowerCase().normalize('NFKC');
  // Invisible characters would give one mailbox several accounts.
  if (/\p{Default_Ignorable_Code_Point}/u.test(text.trim() + typed)) return null;
  const [local = '', typedDomain = '', ...rest] = typed.split('@');
  const domain = asciiDomain(typedDomain);
  if (rest.length > 0 || domain === null || local.length > 64 || !localPart.test(local)) return null;

  const address = `${local}@${domain}`;
  return address.length <= longestAddress ? address : null;
}

/**
 * Returns the ASCII form of a normalised domain. Returns null where that form would drop
 * or replace a character, so that two domains that DNS tells apart never become one, and
 * for an IP address, which is not a domain.
 */
function asciiDomain(typed: string): string | null {
  const labels = typed.split('.');
  if (labels.length < 2 || !labels.every((label) => typedLabel.test(label))) return null;

  const domain = domainToASCII(typed);
  const ascii = domain.split('.');
  const unicode = domainToUnicode(domain).split('.');
  const isSame =
    ascii.length === labels.length &&
    labels.every((label, index) => label === ascii[index] || label === unicode[index]) &&
    // An ASCII form that decodes to no domain may mean another one to the next mail server.
    ascii.every((label, index) => !label.startsWith('xn--') || label !== unicode[index]);
  const endsInNumber = /^(\d+|0x[\da-f]*)$/.test(ascii.at(-1) ?? '');
  return isSame && !endsInNumber && ascii.every((label) => asciiLabel.test(label)) ? domain : null;
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

/**
 * Returns the texts to look for in stored addresses when an operator typed a part of one:
 * the text itself, and with its domain in the ASCII form where it was typed in Unicode.
 */
export function addressSearchTexts(typed: string): string[] {
  const text = typed.normalize('NFKC').toLowerCase();
  const at = text.lastIndexOf('@') + 1;
  const domain = domainToASCII(text.slice(at));
  return domain === '' || domain === text.slice(at) ? [typed] : [typed, text.slice(0, at) + domain];
}
