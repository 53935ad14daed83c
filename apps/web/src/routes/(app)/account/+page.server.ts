import { fail, redirect } from '@sveltejs/kit';
import { refusal } from '#lib/server/refusal.ts';
import { requirePage } from '#lib/server/standing.ts';
import { text } from '#lib/typed.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  requirePage(event);
  const { accounts } = event.locals.api;
  const [profile, activity] = await Promise.all([accounts.profile(), accounts.activity()]);
  return { now: new Date().toISOString(), profile, activity };
};

export const actions: Actions = {
  endSession: async ({ request, locals }) => {
    const id = text(await request.formData(), 'id');
    try {
      await locals.api.accounts.endSession({ id });
    } catch (error) {
      const { status, body } = refusal(error);
      return fail(status, body);
    }
    redirect(303, '/account');
  },

  endOtherSessions: async ({ locals }) => {
    try {
      await locals.api.accounts.endOtherSessions();
    } catch (error) {
      const { status, body } = refusal(error);
      return fail(status, body);
    }
    redirect(303, '/account');
  },
};
