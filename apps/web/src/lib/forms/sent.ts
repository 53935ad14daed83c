import type { RequestEvent } from '@sveltejs/kit';

/** The address that a link was requested for, and when. A cookie carries it over the redirect, to keep it out of the URL. */
export interface Sent {
  email: string;
  at: string;
}

const cookieName = 'sent';
const hourSeconds = 60 * 60;

export function rememberSent({ cookies, url }: RequestEvent, email: string): void {
  const sent: Sent = { email, at: new Date().toISOString() };
  cookies.set(cookieName, JSON.stringify(sent), {
    path: '/signup',
    httpOnly: true,
    secure: url.protocol === 'https:',
    sameSite: 'lax',
    maxAge: hourSeconds,
  });
}

/** Browsers can write any cookie, so one with another content counts as absent. */
export function readSent({ cookies }: Pick<RequestEvent, 'cookies'>): Sent | null {
  try {
    const { email, at } = JSON.parse(cookies.get(cookieName) ?? 'null');
    return typeof email === 'string' && !Number.isNaN(Date.parse(at))
      ? { email, at: new Date(at).toISOString() }
      : null;
  } catch {
    return null;
  }
}
