import { error } from '@sveltejs/kit';
import { withEnded } from '#lib/format/ended-text.ts';
import { formAction } from '#lib/forms/form-action.ts';
import { text, ticked } from '#lib/forms/form-fields.ts';
import { texts } from '#lib/language/texts.ts';
import { pageErrorOf } from '#lib/server/language/page-error.ts';
import type { Actions, PageServerLoad } from './$types';

/** The page of a password link. Loading it does not consume the link. */
export const load: PageServerLoad = async ({ locals, request, url, setHeaders }) => {
  setHeaders({ 'referrer-policy': 'no-referrer' });
  const token = url.searchParams.get('token');
  // The form posts to an address without the token, and its answer names it.
  if (request.method === 'POST' || token === null) return { token: null, reset: null };

  try {
    return { token, reset: await locals.api.accounts.passwordToken({ token }) };
  } catch (thrown) {
    const { status, body } = pageErrorOf(thrown);
    if (status >= 500) throw thrown;
    return error(400, body.error);
  }
};

export const actions: Actions = {
  default: formAction(
    ({ accounts }, form) =>
      accounts.setPassword({
        token: text(form, 'token'),
        password: text(form, 'password'),
        keep_identity: ticked(form, 'keep_identity'),
        keep_keys: ticked(form, 'keep_keys'),
      }),
    {
      done: '/login',
      notice: (_form, { ended }) => withEnded(texts('verifyDone').passwordSet, ended),
      failure: async (form, { code, fields }, { locals }) => {
        const token = text(form, 'token');
        const reset = await locals.api.accounts.passwordToken({ token }).catch(() => null);
        // A refusal of no field says that the link is dead; any other error leaves it as it was.
        return { token: code === 'VALIDATION' && !fields ? null : token, reset };
      },
    },
  ),
};
