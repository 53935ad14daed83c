import { clearCookie, readCookie, writeCookie } from '@gatehouse/api/http/cookies';
import type { RequestEvent } from '@sveltejs/kit';

type CookieEvent = Pick<RequestEvent, 'cookies' | 'locals'>;

/** Whether the user hid the next steps of this organisation, in this browser. */
export function areStepsHidden({ cookies, locals }: CookieEvent, organisationId: string): boolean {
  return readCookie(locals.app, cookies, 'steps') === organisationId;
}

/** Hides the next steps of one organisation in this browser; null shows them again. */
export function hideSteps({ cookies, locals }: CookieEvent, organisationId: string | null): void {
  if (organisationId === null) clearCookie(locals.app, cookies, 'steps');
  else writeCookie(locals.app, cookies, 'steps', organisationId);
}
