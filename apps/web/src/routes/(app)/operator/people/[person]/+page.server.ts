import { error as httpError } from '@sveltejs/kit';
import { requirePage } from '#lib/server/guards/page-guard.ts';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  if (!requirePage(event).user.operator) httpError(403, 'This page is for operators.');

  // Not named `person`: the layout's data has that name for the signed-in user.
  const history = await event.locals.api.operators.personHistory({ user_id: event.params.person });
  return { now: new Date().toISOString(), history };
};
