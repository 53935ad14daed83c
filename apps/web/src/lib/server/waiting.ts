import { readWaiting } from '@gatehouse/api/accounts/read-waiting';
import type { RequestEvent } from '@sveltejs/kit';

/** What /awaiting-approval shows of whoever waits. Not of the router: while a gate is shut it refuses every call. */
export function waitingOf({ locals: { app, principal } }: Pick<RequestEvent, 'locals'>) {
  return readWaiting(app, principal);
}
