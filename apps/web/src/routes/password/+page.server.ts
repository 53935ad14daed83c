import { httpErrorOf } from '@gatehouse/api/http/error-response';
import { formAction } from '#lib/forms/form-action.ts';
import { text } from '#lib/forms/form-fields.ts';
import { verifyDoneTexts } from '#lib/messages/sign-in/verify.ts';
import type { Actions, PageServerLoad } from './$types';

/** The page of a password link. Loading it does not consume the link. */
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
  default: formAction(
    ({ accounts }, form) => accounts.setPassword({ token: text(form, 'token'), password: text(form, 'password') }),
    {
      done: '/login',
      notice: () => verifyDoneTexts().passwordSet(),
      failure: async (form, { fields }, { locals }) => {
        const token = text(form, 'token');
        const link = await locals.api.accounts.passwordToken({ token }).catch(() => null);
        return { token: fields?.password ? token : null, email: link?.email ?? null };
      },
    },
  ),
};
