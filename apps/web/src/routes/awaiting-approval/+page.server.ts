import { redirectApproved } from '#lib/server/guards/page-guard.ts';
import { waitingOf } from '#lib/server/session/approval-progress.ts';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  redirectApproved(event);
  if (event.locals.principal === null) return { waiting: null };

  return { waiting: await waitingOf(event) };
};
