import { requirePage } from '#lib/server/guards/page-guard.ts';
import { deleteAccountAction } from '#lib/server/http/account-actions.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  requirePage(event);
  const { accounts, leaving } = event.locals.api;
  const [{ user }, deletion] = await Promise.all([accounts.profile(), leaving.deletion()]);
  return { hasPassword: user.has_password, deletion };
};

export const actions: Actions = { default: deleteAccountAction };
