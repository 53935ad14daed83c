import { error as refuse } from '@sveltejs/kit';
import { requirePage } from '#lib/server/guards/page-guard.ts';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  if (!requirePage(event).user.operator) refuse(403, 'This page is for operators.');

  // Not named `person`, which is whoever looks, in the frame of every page.
  const history = await event.locals.api.operators.personHistory({ user_id: event.params.person });
  return { now: new Date().toISOString(), history };
};
