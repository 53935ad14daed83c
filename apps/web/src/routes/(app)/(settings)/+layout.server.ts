import { signedInUser } from '#lib/server/guards/page-guard.ts';
import type { LayoutServerLoad } from './$types';

/** The organisation whose settings the tabs lead to; null without one. Each page judges the user's authority itself. */
export const load: LayoutServerLoad = ({ locals, url }) => {
  void url.href;
  const user = signedInUser(locals);
  return { settings: user?.organisation ? { isAdministrator: user.scopes.includes('ADMIN') } : null };
};
