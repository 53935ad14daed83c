import { fail, redirect } from '@sveltejs/kit';
import { refusal } from '#lib/server/refusal.ts';
import { requirePage } from '#lib/server/standing.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = (event) => {
  const { user, organisation, scopes } = requirePage(event);
  return {
    name: user.name,
    organisation: organisation && (organisation.name ?? organisation.slug),
    administers: scopes.includes('ADMIN'),
  };
};

export const actions: Actions = {
  default: async ({ locals }) => {
    try {
      await locals.api.accounts.onboard();
    } catch (error) {
      const { status, body } = refusal(error);
      return fail(status, body);
    }
    redirect(303, '/');
  },
};
