import { redirect } from '@sveltejs/kit';
import { formAction } from '#lib/forms/form-action.ts';
import { text, texts } from '#lib/forms/form-fields.ts';
import { freshTexts } from '#lib/messages/shared/fresh.ts';
import { requirePage } from '#lib/server/guards/page-guard.ts';
import { accountAction, endSessionActions, type FormName } from '#lib/server/http/account-actions.ts';
import { localPage } from '#lib/server/session/local-path.ts';
import type { Actions, PageServerLoad } from './$types';

const page = '/account/security';

export const load: PageServerLoad = async (event) => {
  requirePage(event);
  const { accounts } = event.locals.api;
  const [profile, activity, newBrowsers] = await Promise.all([
    accounts.profile(),
    accounts.activity(),
    accounts.newBrowsers(),
  ]);
  /** The page that needs a fresh session, which the form of this page makes. */
  const confirming = event.url.searchParams.get('return_to');
  return { now: new Date().toISOString(), profile, activity, newBrowsers, confirming };
};

export const actions: Actions = {
  ...endSessionActions(page),

  acknowledge: accountAction({ page, formName: 'sessions', done: 'knowThem' }, ({ accounts }) =>
    accounts.acknowledgeBrowsers(),
  ),

  /** Makes the session fresh by the password. */
  fresh: formAction(({ signIn }, form) => signIn.again({ password: text(form, 'password') }), {
    done: (form, _answer, { url }) => (form.has('return_to') ? localPage(text(form, 'return_to'), url) : page),
    notice: () => ({ text: [freshTexts().confirmed] }),
    failure: (form) => ({ formName: 'fresh' as FormName, returnTo: text(form, 'return_to') }),
  }),

  /** Makes the session fresh by the identity provider, from a form of any page, whose fields are kept in its address. */
  provider: formAction(
    ({ accounts }, form, { url }) => accounts.confirmWithProvider({ return_to: pageWithFields(form, url) }),
    {
      done: (_form, { url }) => redirect(303, url, { external: true }),
      failure: (form) => ({ formName: 'fresh' as FormName, returnTo: text(form, 'return_to') }),
    },
  ),
};

/** The page of a form, with those of its fields in the query that the form wants to keep. */
function pageWithFields(form: FormData, url: URL): string {
  const target = new URL(localPage(text(form, 'return_to') || page, url), url);
  for (const name of texts(form, 'keep')) target.searchParams.set(name, text(form, name));
  return target.pathname + target.search;
}
