import { redirect, error as refuse } from '@sveltejs/kit';
import { formFields, text } from '#lib/forms/form-fields.ts';
import { httpErrorOf } from '#lib/server/http/error-response.ts';
import { pathHere } from '#lib/server/session/current-path.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = () => {
  redirect(302, '/');
};

export const actions: Actions = {
  /** Acts for another organisation, on the page where the switch stood. */
  default: async ({ request, locals, url }) => {
    const form = await formFields(request);

    try {
      await locals.api.organisations.switch({ organisation_id: text(form, 'organisation_id') });
    } catch (error) {
      const { status, body } = httpErrorOf(error);
      refuse(status, body.error);
    }
    redirect(303, pathHere(text(form, 'from'), url));
  },
};
