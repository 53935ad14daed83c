import { redirect } from '@sveltejs/kit';
import { formFields, text } from '#lib/form-fields.ts';
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
    const password = text(await formFields(event.request), 'password');
    try {
      await event.locals.api.leaving.deleteAccount(password === '' ? {} : { password });
    } catch (error) {
      return refused(event, error, () => ({}));
    }
    redirect(303, '/login?done=deleted');
  },
};
