import { redirect } from '@sveltejs/kit';
import { formAction } from '#lib/forms/form-action.ts';
import { text, textList, typedPassword } from '#lib/forms/form-fields.ts';
import { texts } from '#lib/language/texts.ts';
import { requirePage } from '#lib/server/guards/page-guard.ts';
import { accountAction, endSessionActions, type FormName, totpActions } from '#lib/server/http/account-actions.ts';
import { localPage } from '#lib/server/session/local-path.ts';
import type { Actions, PageServerLoad } from './$types';

const page = '/account/security';

export const load: PageServerLoad = async (event) => {
  const principal = requirePage(event);
  const { accounts, factors } = event.locals.api;
  const [profile, activity, newBrowsers, ownFactors] = await Promise.all([
    accounts.profile(),
    accounts.activity(),
    accounts.newBrowsers(),
    factors.list(),
  ]);
  /** The page that needs a fresh session, which the form of this page makes. */
  const confirming = event.url.searchParams.get('return_to');
  const { freshUntil } = principal;
  const isFresh = freshUntil !== null && freshUntil > event.locals.app.now();
  const setsUp = event.url.searchParams.get('setup') === 'totp' && isFresh;
  return {
    now: new Date().toISOString(),
    profile,
    activity,
    newBrowsers,
    confirming,
    /** The setting whose form is open, for links from other pages. */
    changing: event.url.searchParams.get('change'),
    factors: ownFactors,
    offersTotp: event.locals.app.config.secretKeys.length > 0,
    setup: setsUp ? await factors.totpSetup() : null,
  };
};

export const actions: Actions = {
  ...endSessionActions(page),

  acknowledge: accountAction({ page, formName: 'sessions', done: 'knowThem' }, ({ accounts }) =>
    accounts.acknowledgeBrowsers(),
  ),

  /** Makes the session fresh by the password. */
  fresh: formAction(({ signIn }, form) => signIn.again(typedPassword(form)), {
    done: (form, _answer, { url }) => (form.has('return_to') ? localPage(text(form, 'return_to'), url) : page),
    notice: () => texts('fresh').confirmed,
    failure: (form) => ({ formName: 'fresh' as FormName, returnTo: text(form, 'return_to') }),
  }),

  ...totpActions(page, page),
  recovery_codes: formAction(({ factors }) => factors.recoveryCodes(), {
    done: (_form, { recovery_codes: codes }) => ({ formName: 'codes', codes }),
    notice: () => ({ text: texts('factor').codesMade, focus: 'recovery-codes' }),
    failure: () => ({ formName: 'factors' as FormName, returnTo: page }),
  }),
  remove: formAction(({ factors }, form) => factors.remove({ id: text(form, 'id') }), {
    done: page,
    notice: () => texts('factor').removed,
    failure: () => ({ formName: 'factors' as FormName, returnTo: page }),
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
  for (const name of textList(form, 'keep')) target.searchParams.set(name, text(form, name));
  return target.pathname + target.search;
}
