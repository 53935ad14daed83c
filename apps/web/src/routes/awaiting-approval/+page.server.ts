import { redirectApproved, signedInUser } from '#lib/server/guards/page-guard.ts';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  redirectApproved(event);
  const progress = signedInUser(event.locals) && (await event.locals.api.accounts.approvalProgress());
  return { progress };
};
