import { type RequestEvent, redirect, error as refuse } from '@sveltejs/kit';
import { actionFailure } from '#lib/forms/form-action.ts';
import { formFields, text } from '#lib/forms/form-fields.ts';
import { writeCookie } from '#lib/server/session/cookies.ts';
import { forgetInvitation, keptInvitation, readInvitation } from '#lib/server/session/invitation.ts';
import type { Actions, PageServerLoad } from './$types';

/** The page of an invitation, for anybody who holds it. Looking at it uses nothing up and keeps nothing. */
export const load: PageServerLoad = async (event) => {
  event.setHeaders({ 'referrer-policy': 'no-referrer' });
  const signedInAs = event.locals.principal?.user.email ?? null;
  // An action that was actionFailure brings the invitation along.
  if (event.request.method === 'POST') return { signedInAs, invitation: null };

  const token = event.url.searchParams.get('token');
  const invitation = token === null ? await keptInvitation(event) : await readInvitation(event, token);
  return { signedInAs, invitation: invitation ?? dead() };
};

export const actions: Actions = {
  join: async (event) => {
    const invitation = await heldBy(event);

    try {
      await event.locals.api.members.join({ token: invitation.token });
    } catch (error) {
      return actionFailure(event, error, () => ({ invitation }));
    }
    forgetInvitation(event);
    redirect(303, '/');
  },

  /** Keeps the invitation until somebody is signed in; whoever was, wants to be somebody else. */
  signIn: async (event) => {
    await keep(event);
    if (event.locals.principal !== null) await event.locals.api.signIn.out();
    redirect(303, '/login');
  },
  signUp: async (event) => {
    await keep(event);
    redirect(303, '/signup');
  },

  forget: async (event) => {
    const form = await formFields(event.request);
    forgetInvitation(event);
    redirect(303, text(form, 'to') === 'signup' ? '/signup' : '/');
  },
};

async function keep(event: RequestEvent): Promise<void> {
  const { token } = await heldBy(event);
  writeCookie(event.locals.app, event.cookies, 'invitation', token);
}

async function heldBy(event: RequestEvent) {
  const token = text(await formFields(event.request), 'token');
  return (await readInvitation(event, token)) ?? dead();
}

function dead(): never {
  return refuse(400, 'This invitation is not valid any more.');
}
