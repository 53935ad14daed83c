import { redirect } from '@sveltejs/kit';
import { formFields, text } from '#lib/form-fields.ts';
import { refused } from '#lib/refused.ts';
import { requirePage } from '#lib/server/standing.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  requirePage(event);
  const { accounts } = event.locals.api;
  const [profile, activity] = await Promise.all([accounts.profile(), accounts.activity()]);
  return { now: new Date().toISOString(), profile, activity };
};

export const actions: Actions = {
  endSession: async (event) => {
    const id = text(await formFields(event.request), 'id');
    try {
      await event.locals.api.accounts.endSession({ id });
    } catch (error) {
      return refused(event, error, () => ({}));
    }
    redirect(303, '/account');
  },

  endOtherSessions: async (event) => {
    try {
      await event.locals.api.accounts.endOtherSessions();
    } catch (error) {
      return refused(event, error, () => ({}));
    }
    redirect(303, '/account');
  },
};
