import { redirect } from '@sveltejs/kit';
import { signedInUser } from '#lib/server/guards/page-guard.ts';
import { deleteAccountAction, passwordActions, sessionActions } from '#lib/server/http/account-actions.ts';
import type { Actions, PageServerLoad } from './$types';

const page = '/awaiting-approval/account';

/** What the page says after the redirect, by the form that was posted. */
const doneTexts: Record<string, string> = {
  password: 'Your password is set. You are signed out everywhere else.',
  session: 'That session has ended.',
  sessions: 'You are signed out everywhere else.',
};

/** What a user may do with an account that awaits approval. It is a page of its own because /awaiting-approval reloads every few seconds. */
export const load: PageServerLoad = async (event) => {
  const { api } = event.locals;
  const principal = signedInUser(event.locals);
  if (principal === null) redirect(302, '/login');
  if (principal.gate === 'open') redirect(302, '/account');

  const [profile, deletion] = await Promise.all([api.accounts.profile(), api.leaving.deletion()]);
  const done = event.url.searchParams.get('done') ?? '';
  return {
    now: new Date().toISOString(),
    profile,
    deletion,
    done: Object.hasOwn(doneTexts, done) ? doneTexts[done] : null,
  };
};

export const actions: Actions = {
  ...passwordActions(page),
  ...sessionActions(page),
  deleteAccount: deleteAccountAction,
};
