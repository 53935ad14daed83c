import { redirectApproved, signedInUser } from '#lib/server/guards/page-guard.ts';
import { waitingOf } from '#lib/server/session/approval-progress.ts';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  redirectApproved(event);
  const { app } = event.locals;
  const principal = signedInUser(event.locals);
  return { waiting: principal && (await waitingOf(app, principal)) };
};
