import { requirePage } from '#lib/server/guards/page-guard.ts';
import { deleteAccountAction } from '#lib/server/http/account-actions.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  requirePage(event);
  return { deletion: await event.locals.api.leaving.deletion() };
};

export const actions: Actions = { default: deleteAccountAction };
