import { fail, redirect } from '@sveltejs/kit';
import { readSent, rememberSent } from '#lib/sent.ts';
import { refusal } from '#lib/server/refusal.ts';
import { redirectSignedIn } from '#lib/server/standing.ts';
import { text } from '#lib/typed.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = (event) => {
  redirectSignedIn(event);
  return {
    sent: event.url.searchParams.has('sent') ? readSent(event) : null,
    now: new Date().toISOString(),
  };
};

export const actions: Actions = {
  create: async (event) => {
    const form = await event.request.formData();
    const typed = { email: text(form, 'email'), org_name: text(form, 'org_name') };

    let email: string;
    try {
      ({ email } = await event.locals.api.accounts.signUp({ ...typed, password: text(form, 'password') }));
    } catch (error) {
      const { status, body } = refusal(error);
      return fail(status, { ...body, ...typed, resending: false });
    }

    rememberSent(event, email);
    redirect(303, '/signup?sent');
  },

  resend: async (event) => {
    const form = await event.request.formData();
    const email = text(form, 'email');

    try {
      await event.locals.api.accounts.resend({ email });
    } catch (error) {
      const { status, body } = refusal(error);
      return fail(status, { ...body, email, org_name: '', resending: true });
    }

    rememberSent(event, email.trim().toLowerCase());
    redirect(303, '/signup?sent');
  },
};
