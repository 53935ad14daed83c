import { redirect } from '@sveltejs/kit';
import { actionFailure } from '#lib/forms/form-action.ts';
import { formFields, text } from '#lib/forms/form-fields.ts';
import { openVerificationLink } from '#lib/server/http/open-verification-link.ts';
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
    const offers = { password: passwordForm(form, 'password_token'), keepToken: text(form, 'keep_token') || null };

    try {
      await event.locals.api.accounts.approveByDomain({ token: text(form, 'token') });
    } catch (error) {
      return actionFailure(event, error, () => offers);
    }

    if (offers.password ?? offers.keepToken) return { error: null, ...offers };
    redirect(303, '/login?done=approved');
  },

  password: async (event) => {
    const form = await formFields(event.request);
    const typed = { token: text(form, 'token'), password: text(form, 'password'), org_name: text(form, 'org_name') };

    try {
      await event.locals.api.accounts.setPassword(typed);
    } catch (error) {
      return actionFailure(event, error, ({ fields }) => ({
        password: fields?.password || fields?.org_name ? passwordForm(form, 'token') : null,
        keepToken: null,
      }));
    }

    redirect(303, '/login?done=password');
  },

  keep: async (event) => {
    const form = await formFields(event.request);

    try {
      await event.locals.api.accounts.keepPassword({ token: text(form, 'token') });
    } catch (error) {
      return actionFailure(event, error, () => ({ password: null, keepToken: null }));
    }

    redirect(303, '/login?done=confirmed');
  },

  address: async (event) => {
    const form = await formFields(event.request);

    try {
      await event.locals.api.accounts.confirmChange({ token: text(form, 'token') });
    } catch (error) {
      return actionFailure(event, error, () => ({ password: null, keepToken: null }));
    }

    redirect(303, '/login?done=address');
  },
};

/** The form for a password as it was shown, with the name that was typed. */
function passwordForm(form: FormData, tokenField: string) {
  const token = text(form, tokenField);
  return token ? { token, organisationName: form.has('org_name') ? text(form, 'org_name') : null } : null;
}
