import { error as httpError, type RequestEvent, redirect } from '@sveltejs/kit';
import { actionFailure } from '#lib/forms/form-action.ts';
import { formFields, text } from '#lib/forms/form-fields.ts';
import { requirePage } from '#lib/server/guards/page-guard.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  const principal = requirePage(event);
  if (!principal.user.operator) httpError(403, 'This page is for operators.');

  const search = event.url.searchParams.get('search')?.trim() ?? '';
  return { search, self: principal.user.id, people: await event.locals.api.operators.people({ search }) };
};

export const actions: Actions = {
  /** Shows the link once, on the page that responds to the form: only the hash of its token is stored. */
  passwordLink: async (event) => {
    const form = await formFields(event.request);
    const user_id = text(form, 'user_id');
    try {
      const { url } = await event.locals.api.operators.passwordLink({ user_id });
      return { link: { url, email: text(form, 'email') } };
    } catch (error) {
      return actionFailure(event, error, () => ({ link: null }));
    }
  },
  suspend: (event) => decide(event, (operators, user_id) => operators.suspend({ user_id })),
  restore: (event) => decide(event, (operators, user_id) => operators.restore({ user_id })),
};

async function decide(
  event: RequestEvent,
  act: (operators: RequestEvent['locals']['api']['operators'], userId: string) => Promise<unknown>,
) {
  const form = await formFields(event.request);
  try {
    await act(event.locals.api.operators, text(form, 'user_id'));
  } catch (error) {
    return actionFailure(event, error, () => ({ link: null }));
  }
  redirect(303, `/operator/people?${new URLSearchParams({ search: text(form, 'search') })}`);
}
