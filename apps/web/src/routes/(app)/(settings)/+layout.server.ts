import { signedInUser } from '#lib/server/guards/page-guard.ts';
import type { LayoutServerLoad } from './$types';

/** The organisation whose settings the tabs lead to; null without one. Each page judges the user's authority itself. */
export const load: LayoutServerLoad = ({ locals, url }) => {
  void url.href;
  const user = signedInUser(locals);
  if (!user?.organisation) return { settings: null };
  const isAdministrator = user.scopes.includes('ADMIN');
  /** Whether a plan of the deployment has the organisation's audit log. */
  const hasAuditLog = isAdministrator && locals.app.plans.tiers.some(({ features }) => features.audit_log);
  return { settings: { isAdministrator, hasAuditLog } };
};
