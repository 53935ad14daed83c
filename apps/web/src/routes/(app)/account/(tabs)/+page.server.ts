import { redirect } from '@sveltejs/kit';
import { formAction } from '#lib/forms/form-action.ts';
import { text } from '#lib/forms/form-fields.ts';
import { requirePage } from '#lib/server/guards/page-guard.ts';
import { accountAction, type FormName, passwordActions } from '#lib/server/http/account-actions.ts';
import type { Actions, PageServerLoad } from './$types';

const page = '/account';

/** What the page says after the redirect, by the form that was posted. */
const doneTexts: Record<string, string> = {
  name: 'Your name is saved.',
  address: 'If that address is free, a link is on its way to it. Nothing changes until it is opened.',
  password: 'Your password is set. You are signed out everywhere else.',
  unlinked: 'The identity provider is unlinked. You can only sign in with your password now.',
};

export const load: PageServerLoad = async (event) => {
  requirePage(event);
  const { searchParams } = event.url;
  const done = searchParams.get('done') ?? '';
  return {
    now: new Date().toISOString(),
    profile: await event.locals.api.accounts.profile(),
    /** The setting whose form is open, for links from other pages. */
    changing: searchParams.get('change'),
    done: Object.hasOwn(doneTexts, done) ? doneTexts[done] : null,
  };
};

export const actions: Actions = {
  changeName: accountAction({ page, done: 'name', about: 'name' }, ({ accounts }, form) =>
    accounts.changeName({ name: text(form, 'name') }),
  ),
  changeAddress: formAction(
    ({ accounts }, form) => accounts.changeAddress({ email: text(form, 'email'), password: text(form, 'password') }),
    {
      done: `${page}?done=address`,
      failure: (form) => ({ about: 'address' as FormName, address: text(form, 'email') }),
    },
  ),
  unlink: accountAction({ page, done: 'unlinked', about: 'unlink' }, ({ accounts }, form) =>
    accounts.unlinkIdentity({ password: text(form, 'password') }),
  ),
  connect: formAction(({ accounts }, form) => accounts.connectIdentity({ password: text(form, 'password') }), {
    done: (_form, { url }) => redirect(303, url, { external: true }),
    failure: () => ({ about: 'connect' as FormName }),
  }),
  ...passwordActions(page),
};
