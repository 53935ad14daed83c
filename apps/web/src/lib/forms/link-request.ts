import type { RequestEvent } from '@sveltejs/kit';

/** The address that a link was requested for, and when. It travels in a cookie, because URLs end up in logs. */
export interface LinkRequest {
  email: string;
  at: string;
}

const cookieName = 'sent';
const hourSeconds = 60 * 60;

/** Stores the address for an hour, for the page to which the form redirects. */
export function storeLinkRequest({ cookies, url }: RequestEvent, email: string): void {
  const sent: LinkRequest = { email, at: new Date().toISOString() };
  cookies.set(cookieName, JSON.stringify(sent), {
    path: '/signup',
    httpOnly: true,
    secure: url.protocol === 'https:',
    sameSite: 'lax',
    maxAge: hourSeconds,
  });
}

/** Browsers can write any cookie, so one with another content counts as absent. */
export function readLinkRequest({ cookies }: Pick<RequestEvent, 'cookies'>): LinkRequest | null {
  try {
    const { email, at } = JSON.parse(cookies.get(cookieName) ?? 'null');
    return typeof email === 'string' && !Number.isNaN(Date.parse(at))
      ? { email, at: new Date(at).toISOString() }
      : null;
  } catch {
    return null;
  }
}
