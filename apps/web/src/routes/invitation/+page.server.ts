import { writeCookie } from '@gatehouse/api/http/cookies';
import { error, type RequestEvent, redirect } from '@sveltejs/kit';
import { formAction } from '#lib/forms/form-action.ts';
import { formFields, text } from '#lib/forms/form-fields.ts';
import { signedInUser } from '#lib/server/guards/page-guard.ts';
import { fetchInvitation, forgetInvitation, storedInvitation } from '#lib/server/session/invitation.ts';
import type { Actions, PageServerLoad } from './$types';

/** The page of an invitation, for anyone with the link. Loading it neither consumes the invitation nor sets a cookie. */
export const load: PageServerLoad = async (event) => {
  event.setHeaders({ 'referrer-policy': 'no-referrer' });
  const signedInAs = signedInUser(event.locals)?.user.email ?? null;
  // A failed action returns the invitation itself.
  if (event.request.method === 'POST') return { signedInAs, invitation: null };

  const token = event.url.searchParams.get('token');
  const invitation = token === null ? await storedInvitation(event) : await fetchInvitation(event, token);
  return { signedInAs, invitation: invitation ?? notValid() };
};

export const actions: Actions = {
  join: formAction(({ members }, form) => members.join({ token: text(form, 'token') }), {
    done: (_form, _answer, event) => {
      forgetInvitation(event);
      return '/';
    },
    failure: async (form, _body, event) => ({ invitation: await requireInvitation(event, form) }),
  }),

  /** Stores the invitation for the next sign-in. A user who is signed in has chosen to join with another account. */
  signIn: async (event) => {
    await storeInvitation(event);
    if (signedInUser(event.locals) !== null) await event.locals.api.signIn.out();
    redirect(303, '/login');
  },
  signUp: async (event) => {
    await storeInvitation(event);
    redirect(303, '/signup');
  },

  forget: async (event) => {
    const form = await formFields(event);
    forgetInvitation(event);
    redirect(303, text(form, 'to') === 'signup' ? '/signup' : '/');
  },
};

async function storeInvitation(event: RequestEvent): Promise<void> {
  const { token } = await requireInvitation(event, await formFields(event));
  writeCookie(event.locals.app, event.cookies, 'invitation', token);
}

/** @throws Kit's error with status 400 for an invitation that is unknown, used, revoked or expired. */
async function requireInvitation(event: RequestEvent, form: FormData) {
  return (await fetchInvitation(event, text(form, 'token'))) ?? notValid();
}

function notValid(): never {
  return error(400, 'This invitation is no longer valid.');
}
