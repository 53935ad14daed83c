import { domainToASCII, domainToUnicode } from 'node:url';
import { z } from 'zod';
import { zodMessage } from '../messages.ts';
import { isStorable } from './text.ts';

const maxLength = 254;
const localPart = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const typedLabel = /^[\p{L}\p{M}\p{N}]([\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?$/u;
const asciiLabel = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Returns an e-mail address in the one form in which it is stored, compared and mailed:
 * trimmed, NFKC, lower-cased, the domain in its ASCII form (UTS #46). Returns null for a
 * value that is not an address. The value is validated after normalisation, because
 * normalisation can turn another character into an @ or a dot.
 */
export function readAddress(input: string): string | null {
  if (!isStorable(input) || input.length > 4 * maxLength) return null;

  const typed = input.trim().normalize('NFKC').toLowerCase().normalize('NFKC');
  // With invisible characters one mailbox could have several accounts.
  if (/\p{Default_Ignorable_Code_Point}/u.test(input.trim() + typed)) return null;
  const [local = '', typedDomain = '', ...rest] = typed.split('@');
  const domain = asciiDomain(typedDomain);
  if (rest.length > 0 || domain === null || local.length > 64 || !localPart.test(local)) return null;

  const address = `${local}@${domain}`;
  return address.length <= maxLength ? address : null;
}

/**
 * Returns the ASCII form of a normalised domain. Returns null where that form would drop
 * or replace a character, so that two domains that DNS distinguishes never become one, and
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
    // Mail servers may interpret an ASCII form that does not decode differently.
    ascii.every((label, index) => !label.startsWith('xn--') || label !== unicode[index]);
  const endsInNumber = /^(\d+|0x[\da-f]*)$/.test(ascii.at(-1) ?? '');
  return isSame && !endsInNumber && ascii.every((label) => asciiLabel.test(label)) ? domain : null;
}

/** The schema of an e-mail address in a request body, normalised. */
export const emailField = z.string({ error: zodMessage('enter_email') }).transform((input, context) => {
  const address = readAddress(input);
  if (address !== null) return address;

  context.addIssue(zodMessage('enter_valid_email'));
  return z.NEVER;
});

/** Returns the domain of a normalised address. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

/**
 * Returns the search terms for an operator's search by part of an address: the term as typed
 * and, where its domain is in Unicode, also with the domain in ASCII, as it is stored.
 */
export function addressSearchTexts(typed: string): string[] {
  const folded = typed.normalize('NFKC').toLowerCase();
  const domainStart = folded.lastIndexOf('@') + 1;
  const domain = domainToASCII(folded.slice(domainStart));
  return domain === '' || domain === folded.slice(domainStart)
    ? [typed]
    : [typed, folded.slice(0, domainStart) + domain];
}
