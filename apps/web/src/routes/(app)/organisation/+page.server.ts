import { redirect } from '@sveltejs/kit';
import { formFields, text } from '#lib/forms/form-fields.ts';
import { localPath } from '#lib/server/session/current-path.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = () => {
  redirect(302, '/');
};

export const actions: Actions = {
  /** Switches the organisation and returns to the page that had the menu. A failure shows the error page. */
  default: async ({ request, locals, url }) => {
    const form = await formFields(request);
    await locals.api.organisations.switch({ organisation_id: text(form, 'organisation_id') });
    redirect(303, localPath(text(form, 'from'), url));
  },
};
