import { z } from 'zod';
import { domainOf, readAddress } from './security/address.ts';

// The kinds of values that a variable of the configuration may have.

export const string = z.string().trim();
export const nonEmptyList = string
  .transform(splitList)
  .refine((items) => items.length > 0, 'must hold at least one value.');
export const line = string.regex(/^[^\p{Cc}]*$/u, 'must be one line without control characters.');
export const webUrl = string.refine(
  (value) => /^https?:$/.test(parseUrl(value)?.protocol ?? ''),
  'must be a web address.',
);
export const boolean = z.enum(['true', 'false'], 'must be true or false.').transform((value) => value === 'true');

/** Domains in the form that stored addresses have, or `*`. */
export const domains = nonEmptyList
  .transform((values) => values.map((domain) => (domain === '*' ? domain : parseDomain(domain))))
  .refine((values) => !values.includes(null), 'must be domains such as example.com, separated by commas, or *.')
  .transform((values) => values.filter((domain) => domain !== null));

/** A field with a whole number between two bounds, both included. */
export function integer(minimum: number, maximum: number) {
  return z.coerce
    .number(`must be a whole number from ${minimum} to ${maximum}.`)
    .refine((value) => Number.isInteger(value) && value >= minimum && value <= maximum, {
      error: `must be a whole number from ${minimum} to ${maximum}.`,
    });
}

/** A URL with one host, several hosts, or a socket folder in its `host` parameter. */
export function serverUrl(protocols: string[], example: string) {
  return string.refine((value) => {
    const url = parseUrl(value) ?? parseUrl(value.replace(/,[^/?]*/, ''));
    if (url === null || !protocols.includes(url.protocol)) return false;
    return url.hostname !== '' || /[?&]host=[^&]/.test(value);
  }, `must look like ${example}.`);
}

/** Returns a URL; null if the text is not one. */
export function parseUrl(value: string): URL | null {
  return URL.canParse(value) ? new URL(value) : null;
}

function splitList(value: string): string[] {
  return value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Returns a domain in the form that stored addresses have, or null if it is not a domain. */
function parseDomain(value: string): string | null {
  const address = readAddress(`user@${value}`);
  return address && domainOf(address);
}
