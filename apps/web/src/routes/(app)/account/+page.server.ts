import { redirect } from '@sveltejs/kit';
import { actionFailure } from '#lib/forms/form-action.ts';
import { formFields, text } from '#lib/forms/form-fields.ts';
import { requirePage } from '#lib/server/guards/page-guard.ts';
import { type AboutForm, act, passwordAndSessionActions } from '#lib/server/http/account-actions.ts';
import type { Actions, PageServerLoad } from './$types';

/** What was just done, as the page says it after the redirect. */
const doneInWords: Record<string, string> = {
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
    done: Object.hasOwn(doneInWords, done) ? doneInWords[done] : null,
  };
};

export const actions: Actions = {
  changeName: (event) =>
    act(event, { page: '/account', done: 'name' }, (form, { accounts }) =>
      accounts.changeName({ name: text(form, 'name') }),
    ),
  changeAddress: async (event) => {
    const form = await formFields(event.request);
    const email = text(form, 'email');
    try {
      await event.locals.api.accounts.changeAddress({ email, password: text(form, 'password') });
    } catch (error) {
      return actionFailure(event, error, () => ({ address: email }));
    }
    redirect(303, '/account?done=address');
  },
  unlink: (event) =>
    act(event, { page: '/account', done: 'unlinked', about: 'unlink' }, (form, { accounts }) =>
      accounts.unlinkIdentity({ password: text(form, 'password') }),
    ),
  connect: async (event) => {
    const password = text(await formFields(event.request), 'password');
    let started: { url: string };
    try {
      started = await event.locals.api.accounts.connectIdentity({ password });
    } catch (error) {
      return actionFailure(event, error, () => ({ about: 'connect' as AboutForm }));
    }
    redirect(303, started.url, { external: true });
  },
  ...passwordAndSessionActions('/account'),
};
