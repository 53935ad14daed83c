import { redirect } from '@sveltejs/kit';
import { formFields, text } from '#lib/form-fields.ts';
import { refused } from '#lib/refused.ts';
import { openVerificationLink } from '#lib/server/verify.ts';
import type { Actions, PageServerLoad } from './$types';

/** A form of this page posts to an address without the link's token: there is no link to open then. */
export const load: PageServerLoad = async (event) => {
  event.setHeaders({ 'referrer-policy': 'no-referrer' });
  if (event.request.method === 'POST') return { outcome: null };
  return { outcome: await openVerificationLink(event) };
};

export const actions: Actions = {
  approve: async (event) => {
    const form = await formFields(event.request);
    const passwordToken = text(form, 'password_token') || null;

    try {
      await event.locals.api.accounts.approveByDomain({ token: text(form, 'token') });
    } catch (error) {
      return refused(event, error, () => ({ passwordToken }));
    }

    if (passwordToken) return { error: null, passwordToken };
    redirect(303, '/login?done=approved');
  },

  password: async (event) => {
    const form = await formFields(event.request);
    const token = text(form, 'token');

    try {
      await event.locals.api.accounts.setPassword({ token, password: text(form, 'password') });
    } catch (error) {
      return refused(event, error, (body) => ({ passwordToken: body.fields?.password ? token : null }));
    }

    redirect(303, '/login?done=password');
  },
};
