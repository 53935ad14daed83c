import { createHash } from 'node:crypto';
import { send } from '@gatehouse/payment-sandbox/http/answer';
import { type Exchange, HttpError } from '@gatehouse/payment-sandbox/http/request';

/** The passwords that count as breached here, for a developer or a test to type. */
export const breachedPasswords = ['a breached pass phrase', 'another breached pass phrase'];

/** Lines of padding, as the real service adds them: hashes of no password, with the count 0. */
const paddingLines = 20;

/** A stand-in of the range API of Have I Been Pwned, at /breached-passwords/range/{the hash's first five characters}. */
export interface BreachedPasswordService {
  /** Makes every answer a failure, until it is called again with false. */
  setAway(away: boolean): void;
  handle(exchange: Exchange): boolean;
}

export function createBreachedPasswordService(): BreachedPasswordService {
  let away = false;
  return {
    setAway(next) {
      away = next;
    },
    handle({ res, path }) {
      const [, prefix] = /^\/breached-passwords\/range\/([^/]*)$/.exec(path) ?? [];
      if (prefix === undefined) return false;
      if (away) throw new HttpError(503, 'The service of breached passwords is away.');
      if (!/^[0-9A-F]{5}$/i.test(prefix)) throw new HttpError(400, 'Send five characters of a hash.');
      send(res, 200, 'text/plain; charset=utf-8', linesOf(prefix.toUpperCase()).join('\r\n'));
      return true;
    },
  };
}

function linesOf(prefix: string): string[] {
  const found = breachedPasswords
    .map(hashOf)
    .filter((hash) => hash.startsWith(prefix))
    .map((hash) => `${hash.slice(prefix.length)}:3`);
  const padding = Array.from({ length: paddingLines }, (_, line) => `${hashOf(`${prefix} ${line}`).slice(5)}:0`);
  return [...padding, ...found].sort();
}

function hashOf(text: string): string {
  return createHash('sha1').update(text).digest('hex').toUpperCase();
}
