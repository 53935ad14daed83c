import { clearCookie, readCookie } from '@gatehouse/api/http/cookies';
import { httpErrorOf } from '@gatehouse/api/http/error-response';
import { isPrefetch } from '@gatehouse/api/http/request-guard';
import { type RequestEvent, redirect } from '@sveltejs/kit';

type InvitationEvent = Pick<RequestEvent, 'locals' | 'cookies' | 'request'>;

export type Invitation = NonNullable<Awaited<ReturnType<typeof fetchInvitation>>>;

/** Reads an invitation without consuming it; null if it is unknown, used, revoked or expired. */
export async function fetchInvitation({ locals: { api } }: Pick<InvitationEvent, 'locals'>, token: string) {
  try {
    return { token, ...(await api.members.invitation({ token })) };
  } catch (error) {
    if (httpErrorOf(error).status >= 500) throw error;
    return null;
  }
}

/** The invitation in the browser's cookie, kept while the user signs up or in. Forgets one that is no longer valid. */
export async function storedInvitation(event: InvitationEvent): Promise<Invitation | null> {
  const token = readCookie(event.locals.app, event.cookies, 'invitation');
  if (token === null) return null;

  const invitation = await fetchInvitation(event, token);
  if (invitation === null) forgetInvitation(event);
  return invitation;
}

/** Clears the cookie. HEAD requests have no side effects. */
export function forgetInvitation({ locals: { app }, cookies, request }: InvitationEvent): void {
  if (request.method !== 'HEAD') clearCookie(app, cookies, 'invitation');
}

/**
 * Redirects a user who signed in to join back to the invitation, also while their own organisation awaits approval.
 * Forgets the invitation if the user is a member already. An account that was made by an invitation joins at once: its
 * user chose so at sign-up, in this browser. Where that is refused, the invitation's page says why.
 */
export async function redirectToInvitation(event: InvitationEvent): Promise<void> {
  if (event.locals.principal?.kind !== 'user') return;

  const invitation = await storedInvitation(event);
  if (invitation === null) return;
  if (invitation.belongs) return forgetInvitation(event);
  if (!(await joinsAtOnce(event, invitation.token))) redirect(302, '/invitation');
  forgetInvitation(event);
  redirect(302, '/');
}

async function joinsAtOnce({ locals, request }: InvitationEvent, token: string): Promise<boolean> {
  const user = locals.principal?.kind === 'user' ? locals.principal : null;
  // Without an organisation only an account that was made by an invitation awaits approval.
  const isInvited = user?.organisation === null && user.accountStatus === 'awaiting_approval';
  if (!isInvited || request.method !== 'GET' || isPrefetch(request.headers)) return false;
  try {
    await locals.api.members.join({ token });
    return true;
  } catch (error) {
    if (httpErrorOf(error).status >= 500) throw error;
    return false;
  }
}
