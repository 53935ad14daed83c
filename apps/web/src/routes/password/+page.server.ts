import { redirect } from '@sveltejs/kit';
import { actionFailure } from '#lib/forms/form-action.ts';
import { formFields, text } from '#lib/forms/form-fields.ts';
import { httpErrorOf } from '#lib/server/http/error-response.ts';
import type { Actions, PageServerLoad } from './$types';

/** The page of a one-time password link. Looking at it uses nothing up. */
export const load: PageServerLoad = async ({ locals, request, url, setHeaders }) => {
  setHeaders({ 'referrer-policy': 'no-referrer' });
  if (request.method === 'POST') return { token: null, email: null };

  const token = url.searchParams.get('token') ?? '';
  try {
    return { token, email: (await locals.api.accounts.passwordToken({ token })).email };
  } catch (error) {
    if (httpErrorOf(error).status >= 500) throw error;
    return { token: null, email: null };
  }
};

export const actions: Actions = {
  default: async (event) => {
    const form = await formFields(event.request);
    const token = text(form, 'token');
    const { accounts } = event.locals.api;

    try {
      await accounts.setPassword({ token, password: text(form, 'password') });
    } catch (error) {
      const link = await accounts.passwordToken({ token }).catch(() => null);
      return actionFailure(event, error, (body) => ({
        token: body.fields?.password ? token : null,
        email: link?.email ?? null,
      }));
    }
    redirect(303, '/login?done=password');
  },
};
