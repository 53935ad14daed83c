import { signedInUser } from '#lib/server/guards/page-guard.ts';
import type { LayoutServerLoad } from './$types';

/** The user's organisations, for the menu that switches between them; also those that await approval. */
export const load: LayoutServerLoad = async ({ locals }) => ({
  organisations: signedInUser(locals)?.gate === 'open' ? await locals.api.organisations.mine() : [],
});
