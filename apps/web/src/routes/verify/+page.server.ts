import { fail, redirect } from '@sveltejs/kit';
import { refusal } from '#lib/server/refusal.ts';
import { openVerificationLink } from '#lib/server/verify.ts';
import { text } from '#lib/typed.ts';
import type { Actions, PageServerLoad } from './$types';

/** A form of this page posts to an address without the link's token: there is no link to open then. */
export const load: PageServerLoad = async (event) => {
  if (event.request.method === 'POST') return { outcome: null };
  return { outcome: await openVerificationLink(event) };
};

export const actions: Actions = {
  approve: async ({ request, locals }) => {
    const form = await request.formData();
    const passwordToken = text(form, 'password_token') || null;

    try {
      await locals.api.accounts.approveByDomain({ token: text(form, 'token') });
    } catch (error) {
      const { status, body } = refusal(error);
      return fail(status, { ...body, passwordToken });
    }

    if (passwordToken) return { error: null, passwordToken };
    redirect(303, '/login?done=approved');
  },

  password: async ({ request, locals }) => {
    const form = await request.formData();
    const token = text(form, 'token');

    try {
      await locals.api.accounts.setPassword({ token, password: text(form, 'password') });
    } catch (error) {
      const { status, body } = refusal(error);
      return fail(status, { ...body, passwordToken: body.fields?.password ? token : null });
    }

    redirect(303, '/login?done=password');
  },
};
