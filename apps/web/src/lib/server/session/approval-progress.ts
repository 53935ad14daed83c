import { readProfile } from '@gatehouse/api/accounts/profile/read-profile';
import { readApprovalProgress } from '@gatehouse/api/accounts/sign-up/read-approval-progress';
import { readDeletion } from '@gatehouse/api/leaving/delete-account';
import type { RequestEvent } from '@sveltejs/kit';

/** What /awaiting-approval shows of whoever waits. Not of the router: while a gate is shut it refuses every call. */
export function waitingOf({ locals: { app, principal } }: Pick<RequestEvent, 'locals'>) {
  return readApprovalProgress(app, principal);
}

/** What /awaiting-approval/account shows, for the same reason not of the router. */
export async function waitingAccountOf({ locals: { app, principal } }: Pick<RequestEvent, 'locals'>) {
  const [profile, deletion] = await Promise.all([readProfile(app, principal), readDeletion(app, principal)]);
  return { profile, deletion };
}
