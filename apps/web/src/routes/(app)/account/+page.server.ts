import { redirect } from '@sveltejs/kit';
import { formAction } from '#lib/forms/form-action.ts';
import { text } from '#lib/forms/form-fields.ts';
import { requirePage } from '#lib/server/guards/page-guard.ts';
import { type AboutForm, accountAction, passwordAndSessionActions } from '#lib/server/http/account-actions.ts';
import type { Actions, PageServerLoad } from './$types';

const page = '/account';

/** What the page says after the redirect, by the form that was posted. */
const doneTexts: Record<string, string> = {
  name: 'Your name is saved.',
  address: 'A link is on its way to the new address, if it can become yours. Until it is opened nothing changes.',
  password: 'Your password is set. You are signed out everywhere else.',
  unlinked: 'The identity provider is unlinked. You can only sign in with your password now.',
  session: 'That session has ended.',
  sessions: 'You are signed out everywhere else.',
};

export const load: PageServerLoad = async (event) => {
  requirePage(event);
  const { accounts } = event.locals.api;
  const [profile, activity] = await Promise.all([accounts.profile(), accounts.activity()]);
  const done = event.url.searchParams.get('done') ?? '';
  return {
    now: new Date().toISOString(),
    profile,
    activity,
    done: Object.hasOwn(doneTexts, done) ? doneTexts[done] : null,
  };
};

export const actions: Actions = {
  changeName: accountAction({ page, done: 'name' }, ({ accounts }, form) =>
    accounts.changeName({ name: text(form, 'name') }),
  ),
  changeAddress: formAction(
    ({ accounts }, form) => accounts.changeAddress({ email: text(form, 'email'), password: text(form, 'password') }),
    { done: `${page}?done=address`, failure: (form) => ({ address: text(form, 'email') }) },
  ),
  unlink: accountAction({ page, done: 'unlinked', about: 'unlink' }, ({ accounts }, form) =>
    accounts.unlinkIdentity({ password: text(form, 'password') }),
  ),
  connect: formAction(({ accounts }, form) => accounts.connectIdentity({ password: text(form, 'password') }), {
    done: (_form, { url }) => redirect(303, url, { external: true }),
    failure: () => ({ about: 'connect' as AboutForm }),
  }),
  ...passwordAndSessionActions(page),
};
