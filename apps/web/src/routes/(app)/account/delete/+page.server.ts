import { redirect } from '@sveltejs/kit';
import { formFields, text, texts } from '#lib/form-fields.ts';
import { refused } from '#lib/refused.ts';
import { requirePage } from '#lib/server/standing.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  requirePage(event);
  const { accounts, leaving } = event.locals.api;
  const [{ user }, deletion] = await Promise.all([accounts.profile(), leaving.deletion()]);
  return { hasPassword: user.has_password, deletion };
};

export const actions: Actions = {
  default: async (event) => {
    const form = await formFields(event.request);
    const password = text(form, 'password');
    const organisation_ids = texts(form, 'organisation_ids');
    try {
      await event.locals.api.leaving.deleteAccount({ ...(password !== '' && { password }), organisation_ids });
    } catch (error) {
      return refused(event, error, () => ({}));
    }
    redirect(303, '/login?done=deleted');
  },
};
