import { fail, redirect } from '@sveltejs/kit';
import { refusal } from '#lib/server/refusal.ts';
import { redirectSignedIn } from '#lib/server/standing.ts';
import { text } from '#lib/typed.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = (event) => {
  redirectSignedIn(event);
  const { searchParams } = event.url;
  return { idpFailed: searchParams.get('error') === 'idp', done: searchParams.get('done') };
};

export const actions: Actions = {
  default: async ({ request, locals }) => {
    const form = await request.formData();
    const email = text(form, 'email');

    try {
      await locals.api.signIn.withPassword({ email, password: text(form, 'password') });
    } catch (error) {
      const { status, body } = refusal(error);
      return fail(status, { ...body, email });
    }

    redirect(303, '/');
  },
};
