import { redirect } from '@sveltejs/kit';
import { formFields } from '#lib/forms/form-fields.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = () => {
  redirect(302, '/');
};

export const actions: Actions = {
  default: async (event) => {
    // It has no fields: this refuses a body that no form may have.
    await formFields(event);
    await event.locals.api.signIn.out();
    redirect(303, '/login');
  },
};
