import { redirect } from '@sveltejs/kit';
import { reviewPath, signedInUser } from '#lib/server/guards/page-guard.ts';
import { deleteAccountAction, endSessionActions, passwordActions } from '#lib/server/http/account-actions.ts';
import type { Actions, PageServerLoad } from './$types';

const page = '/awaiting-approval/account';

/** What a user may do with an account that awaits approval. It is a page of its own because /awaiting-approval reloads every few seconds. */
export const load: PageServerLoad = async (event) => {
  const { api } = event.locals;
  const principal = signedInUser(event.locals);
  if (principal === null) redirect(302, '/login');
  if (principal.reviewPending) redirect(302, reviewPath);
  if (principal.accountStatus === 'active') redirect(302, '/account');

  const [profile, deletion] = await Promise.all([api.accounts.profile(), api.leaving.deletion()]);
  return { now: new Date().toISOString(), profile, deletion };
};

export const actions: Actions = {
  ...passwordActions(page),
  ...endSessionActions(page),
  deleteAccount: deleteAccountAction,
};
