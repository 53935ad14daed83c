import { readProfile } from '@gatehouse/api/accounts/profile/read-profile';
import { readApprovalProgress } from '@gatehouse/api/accounts/sign-up/read-approval-progress';
import type { App } from '@gatehouse/api/app';
import { readDeletion } from '@gatehouse/api/leaving/delete-account';
import type { UserPrincipal } from '@gatehouse/api/sessions/principal';

/** What /awaiting-approval shows. It bypasses the router, which rejects every call while a gate is closed. */
export function waitingOf(app: App, principal: UserPrincipal) {
  return readApprovalProgress(app, principal);
}

/** What /awaiting-approval/account shows, for the same reason without the router. */
export async function waitingAccountOf(app: App, principal: UserPrincipal) {
  const [profile, deletion] = await Promise.all([readProfile(app, principal), readDeletion(app, principal)]);
  return { profile, deletion };
}
