import { readProfile } from '@gatehouse/api/accounts/profile/read-profile';
import { readApprovalProgress } from '@gatehouse/api/accounts/sign-up/read-approval-progress';
import { readDeletion } from '@gatehouse/api/leaving/delete-account';
import type { RequestEvent } from '@sveltejs/kit';

/** What /awaiting-approval shows. It bypasses the router, which rejects every call while a gate is closed. */
export function waitingOf({ locals: { app, principal } }: Pick<RequestEvent, 'locals'>) {
  return readApprovalProgress(app, principal);
}

/** What /awaiting-approval/account shows, for the same reason without the router. */
export async function waitingAccountOf({ locals: { app, principal } }: Pick<RequestEvent, 'locals'>) {
  const [profile, deletion] = await Promise.all([readProfile(app, principal), readDeletion(app, principal)]);
  return { profile, deletion };
}
