import type { App } from '@gatehouse/api/app';
import { longestSessionDays, shareSession } from '@gatehouse/api/sessions/session';
import type { Cookies } from '@sveltejs/kit';

const name = '__Secure-gatehouse';

function attributes(domain: string) {
  return { domain, path: '/', httpOnly: true, sameSite: 'lax', secure: true } as const;
}

/** The token of the cookie that sibling hosts share; null without one, or if COOKIE_DOMAIN is unset. */
export function readSharedCookie({ config }: App, cookies: Pick<Cookies, 'get'>): string | null {
  return config.cookieDomain === null ? null : cookies.get(name) || null;
}

/** Lets products on sibling hosts verify the session. The token is a separate one that permits nothing else. */
export async function writeSharedCookie(app: App, cookies: Pick<Cookies, 'set'>, sessionId: string): Promise<void> {
  const { cookieDomain } = app.config;
  if (cookieDomain === null) return;

  const maxAge = longestSessionDays * 86_400;
  cookies.set(name, await shareSession(app, sessionId), { ...attributes(cookieDomain), maxAge });
}

export function clearSharedCookie({ config }: App, cookies: Pick<Cookies, 'delete'>): void {
  if (config.cookieDomain !== null) cookies.delete(name, attributes(config.cookieDomain));
}
