import { redirect } from '@sveltejs/kit';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = () => {
  redirect(302, '/');
};

export const actions: Actions = {
  default: async ({ locals }) => {
    await locals.api.signIn.out();
    redirect(303, '/login');
  },
};
