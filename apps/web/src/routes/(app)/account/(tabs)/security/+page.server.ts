import { requirePage } from '#lib/server/guards/page-guard.ts';
import { endSessionActions } from '#lib/server/http/account-actions.ts';
import type { Actions, PageServerLoad } from './$types';

const page = '/account/security';

export const load: PageServerLoad = async (event) => {
  requirePage(event);
  const { accounts } = event.locals.api;
  const [profile, activity] = await Promise.all([accounts.profile(), accounts.activity()]);
  return { now: new Date().toISOString(), profile, activity };
};

export const actions: Actions = endSessionActions(page);
