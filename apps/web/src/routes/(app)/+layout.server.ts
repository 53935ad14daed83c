import { signedInUser } from '#lib/server/guards/page-guard.ts';
import type { LayoutServerLoad } from './$types';

/**
 * The user's organisations, for the menu that switches between them; also those that await approval. Runs for each
 * navigation, because it depends on the URL, so that the page learns that another user has signed in since.
 */
export const load: LayoutServerLoad = async ({ locals, url }) => {
  void url.href;
  const user = signedInUser(locals);
  // Every page redirects such a user to where the account can be used again.
  const isOpen = user?.accountStatus === 'active' && user.factorMissing === null;
  return {
    readFor: user?.user.id ?? null,
    organisations: isOpen ? await locals.api.organisations.mine() : [],
  };
};
