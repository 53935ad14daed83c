import type { Cookies } from '@sveltejs/kit';
import { parseCookie, stringifySetCookie } from 'cookie';

type CookieJar = Pick<Cookies, 'get' | 'set' | 'delete'> & {
  /** The values of the header Set-Cookie. */
  lines: string[];
};

/**
 * The cookies of one request and its answer, as Kit keeps them for pages. A cookie that was set is read
 * back with its new value.
 */
export function cookieJar(header: string | undefined): CookieJar {
  let sent: Record<string, string | undefined> | undefined;
  const changed = new Map<string, string | undefined>();
  const lines: string[] = [];

  const jar: CookieJar = {
    lines,
    get(name) {
      if (changed.has(name)) return changed.get(name);
      sent ??= header === undefined ? {} : parseCookie(header);
      return sent[name];
    },
    set(name, value, options) {
      changed.set(name, options?.maxAge === 0 ? undefined : value);
      const others = lines.filter((line) => !line.startsWith(`${name}=`));
      lines.splice(0, lines.length, ...others, stringifySetCookie({ name, value, ...options }));
    },
    delete: (name, options) => jar.set(name, '', { ...options, maxAge: 0 }),
  };
  return jar;
}
