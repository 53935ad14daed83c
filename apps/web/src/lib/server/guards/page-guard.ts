import type { Principal } from '@gatehouse/api/sessions/principal';
import { type RequestEvent, redirect } from '@sveltejs/kit';

type PageEvent = Pick<RequestEvent, 'locals' | 'url'>;

/**
 * The principal of a page after sign-in. Redirects to /login without a session, to
 * /awaiting-approval while a gate is closed, and from / to /onboarding before the first visit.
 */
export function requirePage({ locals: { principal }, url }: PageEvent): Principal {
  if (principal === null) redirect(302, '/login');
  if (principal.gate !== 'open') redirect(302, '/awaiting-approval');
  if (url.pathname === '/' && principal.user.onboardedAt === null) redirect(302, '/onboarding');
  return principal;
}

/** Redirects signed-in users from /login and /signup to /. */
export function redirectSignedIn({ locals: { principal } }: Pick<PageEvent, 'locals'>): void {
  if (principal !== null) redirect(302, '/');
}

/** Redirects users whose gates are both open from /awaiting-approval to /. */
export function redirectApproved({ locals: { principal } }: Pick<PageEvent, 'locals'>): void {
  if (principal?.gate === 'open') redirect(302, '/');
}
