import { parseCookie, type SetCookie, stringifySetCookie } from 'cookie';
import type { App } from '../app.ts';
import { knownBrowserDays } from '../auth/sessions/known-browser.ts';
import { longestSessionDays } from '../auth/sessions/lucia.ts';
import { shareSession } from '../auth/sessions/session.ts';
import type { Config } from '../platform/config.ts';
import { daySeconds, hourSeconds, yearSeconds } from '../platform/durations.ts';

type CookieAttributes = Omit<SetCookie, 'name' | 'value'> & { path: string };

/** The cookies of a request and of its answer: Kit's for pages, those of `cookieJar` for the API. */
export type RequestCookies = {
  get: (name: string) => string | undefined;
  set: (name: string, value: string, attributes: CookieAttributes) => void;
  delete: (name: string, attributes: CookieAttributes) => void;
};

type Kind =
  | 'session'
  | 'attempt'
  | 'signup'
  | 'return'
  | 'invitation'
  | 'known'
  | 'notice'
  | 'sent'
  | 'language'
  | 'theme'
  | 'steps'
  | 'step'
  | 'challenge';

/** What these functions need of the App. */
type Configured = Pick<App, 'config'>;

const lifetimeSeconds: Record<Kind, number> = {
  session: longestSessionDays * daySeconds,
  attempt: 600,
  signup: 7 * daySeconds,
  return: hourSeconds,
  invitation: 7 * daySeconds,
  known: knownBrowserDays * daySeconds,
  notice: 300,
  sent: hourSeconds,
  language: yearSeconds,
  theme: yearSeconds,
  steps: yearSeconds,
  step: 600,
  challenge: 300,
};

/** Whether cookies are Secure, by the scheme of PUBLIC_BASE_URL and never by the request's. */
function isSecure({ publicBaseUrl }: Config): boolean {
  return publicBaseUrl === null || publicBaseUrl.startsWith('https:');
}

/** The __Host- prefix pins a cookie to this host, over https (RFC 6265bis §4.1.3.2). */
function nameOf(app: Configured, kind: Kind): string {
  return isSecure(app.config) ? `__Host-${kind}` : kind;
}

/** The value of a cookie; null if the request has none or an empty one. */
export function readCookie(app: Configured, cookies: Pick<RequestCookies, 'get'>, kind: Kind): string | null {
  return cookies.get(nameOf(app, kind)) || null;
}

/** Sets a cookie with the attributes and the lifetime of its kind. */
export function writeCookie(app: Configured, cookies: RequestCookies, kind: Kind, value: string): void {
  const attributes = { path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure(app.config) } as const;
  cookies.set(nameOf(app, kind), value, { ...attributes, maxAge: lifetimeSeconds[kind] });
}

export function clearCookie(app: Configured, cookies: RequestCookies, kind: Kind): void {
  const attributes = { path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure(app.config) } as const;
  cookies.delete(nameOf(app, kind), attributes);
}

const sharedName = '__Secure-gatehouse';

function sharedAttributes(domain: string) {
  return { domain, path: '/', httpOnly: true, sameSite: 'lax', secure: true } as const;
}

/** The token of the cookie that sibling hosts share; null without one, or if COOKIE_DOMAIN is unset. */
export function readSharedCookie({ config }: App, cookies: Pick<RequestCookies, 'get'>): string | null {
  return config.cookieDomain === null ? null : cookies.get(sharedName) || null;
}

/** Lets products on sibling hosts ask about the session. The token is a separate one (http/open-request.ts). */
export async function writeSharedCookie(
  app: App,
  cookies: Pick<RequestCookies, 'set'>,
  sessionToken: string,
): Promise<void> {
  const { cookieDomain } = app.config;
  if (cookieDomain === null) return;

  const maxAge = longestSessionDays * daySeconds;
  cookies.set(sharedName, await shareSession(app, sessionToken), { ...sharedAttributes(cookieDomain), maxAge });
}

export function clearSharedCookie({ config }: App, cookies: Pick<RequestCookies, 'delete'>): void {
  if (config.cookieDomain !== null) cookies.delete(sharedName, sharedAttributes(config.cookieDomain));
}

type CookieJar = RequestCookies & {
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
