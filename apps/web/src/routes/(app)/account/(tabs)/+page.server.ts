import { redirect } from '@sveltejs/kit';
import { formAction } from '#lib/forms/form-action.ts';
import { text, ticked, typedPassword } from '#lib/forms/form-fields.ts';
import { texts } from '#lib/language/texts.ts';
import { requirePage } from '#lib/server/guards/page-guard.ts';
import { accountAction, endSessionActions, type FormName, passwordActions } from '#lib/server/http/account-actions.ts';
import type { Actions, PageServerLoad } from './$types';

const page = '/account';
/** The forms that change how the user signs in are there; their actions are here. */
const securityPage = '/account/security';

export const load: PageServerLoad = async (event) => {
  requirePage(event);
  return {
    now: new Date().toISOString(),
    profile: await event.locals.api.accounts.profile(),
    /** The setting whose form is open, for links from other pages. */
    changing: event.url.searchParams.get('change'),
    /** The new address that was typed before the way through the identity provider. */
    keptAddress: event.url.searchParams.get('email'),
  };
};

export const actions: Actions = {
  changeName: formAction(({ accounts }, form) => accounts.changeName({ name: text(form, 'name') }), {
    done: page,
    notice: () => ({ text: texts('accountDone').name, row: 'name-row' }),
    failure: (form) => ({ formName: 'name' as FormName, name: text(form, 'name') }),
  }),
  changeAddress: formAction(
    ({ accounts }, form) =>
      accounts.changeAddress({
        email: text(form, 'email'),
        revoke_keys: ticked(form, 'revoke_keys'),
        ...typedPassword(form),
      }),
    {
      done: page,
      notice: () => texts('accountDone').address,
      failure: (form) => ({ formName: 'address' as FormName, address: text(form, 'email') }),
    },
  ),
  sendAgain: accountAction({ page, formName: 'pendingAddress', done: 'addressAgain' }, ({ accounts }) =>
    accounts.resendAddressChange(),
  ),
  cancelChange: accountAction({ page, formName: 'pendingAddress', done: 'addressCancelled' }, ({ accounts }) =>
    accounts.cancelAddressChange(),
  ),
  unlink: accountAction({ page: securityPage, formName: 'unlink', done: 'unlinked' }, ({ accounts }, form) =>
    accounts.unlinkIdentity({ password: text(form, 'password') }),
  ),
  connect: formAction(({ accounts }, form) => accounts.connectIdentity(typedPassword(form)), {
    done: (_form, { url }) => redirect(303, url, { external: true }),
    failure: () => ({ formName: 'connect' as FormName }),
  }),
  ...passwordActions(securityPage),
  ...endSessionActions(page),
};
