import { requirePage } from '#lib/server/guards/page-guard.ts';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = (event) => {
  requirePage(event);
};
