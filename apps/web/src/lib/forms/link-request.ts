import { readCookie, writeCookie } from '@gatehouse/api/http/cookies';
import type { RequestEvent } from '@sveltejs/kit';

/** The address that a link was requested for, and when. It travels in a cookie, because URLs end up in logs. */
export interface LinkRequest {
  email: string;
  at: string;
}

/** Stores the address for an hour, for the page to which the form redirects. */
export function storeLinkRequest({ locals, cookies }: RequestEvent, email: string): void {
  const sent: LinkRequest = { email, at: new Date().toISOString() };
  writeCookie(locals.app, cookies, 'sent', JSON.stringify(sent));
}

/** Browsers can write any cookie, so one with another content counts as absent. */
export function readLinkRequest({ locals, cookies }: Pick<RequestEvent, 'locals' | 'cookies'>): LinkRequest | null {
  try {
    const { email, at } = JSON.parse(readCookie(locals.app, cookies, 'sent') ?? 'null');
    return typeof email === 'string' && !Number.isNaN(Date.parse(at))
      ? { email, at: new Date(at).toISOString() }
      : null;
  } catch {
    return null;
  }
}
