import { type RequestEvent, redirect } from '@sveltejs/kit';
import { httpErrorOf } from '../http/error-response.ts';
import { clearCookie, readCookie } from './cookies.ts';

type Asked = Pick<RequestEvent, 'locals' | 'cookies' | 'request'>;

export type Invitation = NonNullable<Awaited<ReturnType<typeof readInvitation>>>;

/** What an invitation's token leads to, without taking it; null for a dead one. */
export async function readInvitation({ locals: { api } }: Pick<Asked, 'locals'>, token: string) {
  try {
    return { token, ...(await api.members.invitation({ token })) };
  } catch (error) {
    if (httpErrorOf(error).status >= 500) throw error;
    return null;
  }
}

/** The invitation that a browser keeps while somebody signs up or in; one that is dead is forgotten. */
export async function keptInvitation(event: Asked): Promise<Invitation | null> {
  const token = readCookie(event.locals.app, event.cookies, 'invitation');
  if (token === null) return null;

  const invitation = await readInvitation(event, token);
  if (invitation === null) forgetInvitation(event);
  return invitation;
}

/** Whoever only looks changes nothing, not even a cookie. */
export function forgetInvitation({ locals: { app }, cookies, request }: Asked): void {
  if (request.method !== 'HEAD') clearCookie(app, cookies, 'invitation');
}

/** Sends whoever signed in to join back to the invitation, also while an organisation of their own waits. */
export async function leadToInvitation(event: Asked): Promise<void> {
  if (event.locals.principal === null) return;

  const invitation = await keptInvitation(event);
  if (invitation === null) return;
  if (!invitation.belongs) redirect(302, '/invitation');
  forgetInvitation(event);
}
