import { withEnded } from '#lib/format/ended-text.ts';
import { formAction } from '#lib/forms/form-action.ts';
import { text, ticked } from '#lib/forms/form-fields.ts';
import { texts } from '#lib/language/texts.ts';
import { openVerificationLink } from '#lib/server/http/open-verification-link.ts';
import type { Actions, PageServerLoad } from './$types';

/** The page's forms post to an address without the link's token, so a POST opens no link. */
export const load: PageServerLoad = async (event) => {
  event.setHeaders({ 'referrer-policy': 'no-referrer' });
  if (event.request.method === 'POST') return { outcome: null };
  return { outcome: await openVerificationLink(event) };
};

export const actions: Actions = {
  approve: formAction(({ accounts }, form) => accounts.approveByDomain({ token: text(form, 'token') }), {
    done: (form) => {
      const offers = offersIn(form);
      return isOffering(offers) ? { error: null, ...offers } : '/login';
    },
    notice: (form) => (isOffering(offersIn(form)) ? null : texts('verifyDone').approved),
    failure: offersIn,
  }),

  password: formAction(
    ({ accounts }, form) =>
      accounts.setPassword({
        token: text(form, 'token'),
        password: text(form, 'password'),
        org_name: text(form, 'org_name'),
        keep_identity: ticked(form, 'keep_identity'),
        keep_keys: ticked(form, 'keep_keys'),
      }),
    {
      done: '/login',
      notice: (_form, { ended }) => withEnded(texts('verifyDone').passwordSet, ended),
      failure: async (form, { code, fields }, { locals }) => {
        // A refusal of no field says that the link is dead; any other error leaves it as it was.
        const offered = code === 'VALIDATION' && !fields ? null : passwordForm(form, 'token');
        const { accounts } = locals.api;
        const reset = offered && (await accounts.passwordToken({ token: offered.token }).catch(() => null));
        return { password: offered, keepToken: null, reset };
      },
    },
  ),

  keep: formAction(({ accounts }, form) => accounts.keepPassword({ token: text(form, 'token') }), {
    done: '/login',
    notice: () => texts('verifyDone').passwordKept,
    failure: noOffers,
  }),

  address: formAction(
    ({ accounts }, form) =>
      accounts.confirmChange({
        token: text(form, 'token'),
        password: text(form, 'password'),
        keep_identity: ticked(form, 'keep_identity'),
        revoke_keys: ticked(form, 'revoke_keys'),
      }),
    {
      done: '/login',
      notice: (_form, { ended }) => withEnded(texts('verifyDone').addressChanged, ended),
      failure: async (form, _body, { locals }) => {
        const token = text(form, 'token');
        const change = await locals.api.accounts.changeToken({ token }).catch(() => null);
        return { ...noOffers(), change: change && { token, ...change } };
      },
    },
  ),
};

function noOffers() {
  return { password: null, keepToken: null };
}

/** The forms that the page offered beside the approval. */
function offersIn(form: FormData) {
  return { password: passwordForm(form, 'password_token'), keepToken: text(form, 'keep_token') || null };
}

function isOffering({ password, keepToken }: ReturnType<typeof offersIn>): boolean {
  return password !== null || keepToken !== null;
}

/** The password form as the page showed it, with the name that was typed. */
function passwordForm(form: FormData, tokenField: string) {
  const token = text(form, tokenField);
  return token ? { token, organisationName: form.has('org_name') ? text(form, 'org_name') : null } : null;
}
