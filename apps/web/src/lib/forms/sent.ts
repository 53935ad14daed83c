import type { RequestEvent } from '@sveltejs/kit';

/** Which address was asked for a link, and when: told to the page after the redirect, and to no address bar. */
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

/** The cookie is the browser's to write: what is not of its shape counts as absent. */
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
