import { redirect } from '@sveltejs/kit';
import { actionFailure } from '#lib/forms/form-action.ts';
import { requirePage } from '#lib/server/guards/page-guard.ts';
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
  default: async (event) => {
    try {
      await event.locals.api.accounts.onboard();
    } catch (error) {
      return actionFailure(event, error, () => ({}));
    }
    redirect(303, '/');
  },
};
