import { redirect } from '@sveltejs/kit';
import { actionFailure } from '#lib/forms/form-action.ts';
import { formFields, text } from '#lib/forms/form-fields.ts';
import { readSent, rememberSent } from '#lib/forms/sent.ts';
import { redirectSignedIn } from '#lib/server/guards/page-guard.ts';
import { keptInvitation } from '#lib/server/session/invitation.ts';
import { rememberReturnUrl } from '#lib/server/session/return-url.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  await rememberReturnUrl(event);
  redirectSignedIn(event);
  return {
    sent: event.url.searchParams.has('sent') ? readSent(event) : null,
    forPassword: event.url.searchParams.get('sent') === 'password',
    now: new Date().toISOString(),
    invitation: await keptInvitation(event),
  };
};

export const actions: Actions = {
  create: async (event) => {
    const form = await formFields(event.request);
    const typed = { email: text(form, 'email'), org_name: text(form, 'org_name') };
    const secret = { password: text(form, 'password'), invitation: text(form, 'invitation') };

    let email: string;
    try {
      ({ email } = await event.locals.api.accounts.signUp({ ...typed, ...secret }));
    } catch (error) {
      return actionFailure(event, error, () => ({ ...typed, resending: false, forPassword: false }));
    }

    rememberSent(event, email);
    redirect(303, '/signup?sent');
  },

  resend: async (event) => {
    const form = await formFields(event.request);
    const email = text(form, 'email');
    const forPassword = text(form, 'wanted') === 'password';

    try {
      await event.locals.api.accounts.resend({ email });
    } catch (error) {
      return actionFailure(event, error, () => ({ email, org_name: '', resending: true, forPassword }));
    }

    rememberSent(event, email.trim().toLowerCase());
    redirect(303, forPassword ? '/signup?sent=password' : '/signup?sent');
  },
};
