import { yearSeconds } from '@gatehouse/api/platform/durations';
import type { RequestEvent } from '@sveltejs/kit';

type CookieEvent = Pick<RequestEvent, 'cookies' | 'url'>;

const cookieName = 'steps';

/** Whether the user hid the next steps of this organisation, in this browser. */
export function areStepsHidden({ cookies }: Pick<RequestEvent, 'cookies'>, organisationId: string): boolean {
  return cookies.get(cookieName) === organisationId;
}

/** Hides the next steps of one organisation in this browser; null shows them again. */
export function hideSteps({ cookies, url }: CookieEvent, organisationId: string | null): void {
  const cookie = { path: '/', httpOnly: true, secure: url.protocol === 'https:', sameSite: 'lax' } as const;
  if (organisationId === null) cookies.delete(cookieName, cookie);
  else cookies.set(cookieName, organisationId, { ...cookie, maxAge: yearSeconds });
}
