import { redirectApproved } from '#lib/server/standing.ts';
import { waitingOf } from '#lib/server/waiting.ts';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  redirectApproved(event);
  if (event.locals.principal === null) return { waiting: null };

  return { waiting: await waitingOf(event) };
};
