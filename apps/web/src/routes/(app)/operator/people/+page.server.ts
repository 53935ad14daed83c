import type { Caller } from '@gatehouse/api/router/root';
import { error as httpError } from '@sveltejs/kit';
import { formAction } from '#lib/forms/form-action.ts';
import { text } from '#lib/forms/form-fields.ts';
import { requirePage } from '#lib/server/guards/page-guard.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  const principal = requirePage(event);
  if (!principal.user.operator) httpError(403, 'This page is for operators.');

  const search = event.url.searchParams.get('search')?.trim() ?? '';
  return { search, self: principal.user.id, people: await event.locals.api.operators.people({ search }) };
};

export const actions: Actions = {
  /** The link is shown once, on the page that answers the form: only its hash is stored. */
  passwordLink: formAction(({ operators }, form) => operators.passwordLink({ user_id: text(form, 'user_id') }), {
    done: (form, { url }) => ({ link: { url, email: text(form, 'email') } }),
    failure: () => ({ link: null }),
  }),
  suspend: userAction((operators, userId) => operators.suspend({ user_id: userId })),
  restore: userAction((operators, userId) => operators.restore({ user_id: userId })),
};

/** Changes one user, and redirects to the list as it was searched. */
function userAction(call: (operators: Caller['operators'], userId: string) => Promise<unknown>) {
  return formAction(({ operators }, form) => call(operators, text(form, 'user_id')), {
    done: (form) => `/operator/people?${new URLSearchParams({ search: text(form, 'search') })}`,
    failure: () => ({ link: null }),
  });
}
