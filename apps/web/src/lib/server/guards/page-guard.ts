import type { Principal, UserPrincipal } from '@gatehouse/api/auth/principal';
import { type RequestEvent, redirect } from '@sveltejs/kit';

type PageEvent = Pick<RequestEvent, 'locals' | 'url' | 'isDataRequest'>;

const secondStepPath = '/login/second-step';
export const reviewPath = '/account/security/review';
const requiredPath = '/account/security/required';

/** The signed-in user; null without a session, and for an API key: pages are for users. */
export function signedInUser({ principal }: { principal: Principal | null }): UserPrincipal | null {
  return principal?.kind === 'user' ? principal : null;
}

/**
 * The principal of a page after sign-in. Redirects to /login without a session, to /login/second-step while a sign-in
 * waits for its second step, to the review of the account's factors until that is answered, to
 * /awaiting-approval while the account awaits approval, to the page that sets up a second factor where one is required and
 * missing, and from / to /onboarding before the first visit.
 */
export function requirePage(event: PageEvent): UserPrincipal {
  const { locals, url } = event;
  const principal = signedInUser(locals);
  if (principal === null) redirect(302, locals.stepPending ? secondStepPath : signInPath(event));
  if (principal.reviewPending) redirect(302, reviewPath);
  if (principal.accountStatus !== 'active') redirect(302, '/awaiting-approval');
  if (principal.factorMissing !== null) redirect(302, requiredPath);
  if (url.pathname === '/' && principal.user.onboardedAt === null) redirect(302, '/onboarding');
  return principal;
}

/**
 * The path to which a page without a session redirects: /login. After the session has ended, a request for a page's data
 * is redirected to load the page as a document. A script may request the data before the user clicks, so only the
 * document's request stores the page to return to (`rememberPageOfEndedSession`).
 */
function signInPath({ locals, url, isDataRequest }: PageEvent): string {
  if (!isDataRequest || !locals.sessionEnded) return '/login';
  return `/auth/reload?${new URLSearchParams({ page: url.pathname + url.search })}`;
}

/** Redirects signed-in users from /login and /signup to /. */
export function redirectSignedIn({ locals }: Pick<PageEvent, 'locals'>): void {
  if (locals.stepPending) redirect(302, secondStepPath);
  if (signedInUser(locals) !== null) redirect(302, '/');
}

/** Redirects users whose gates are both open from /awaiting-approval to /. */
export function redirectApproved({ locals }: Pick<PageEvent, 'locals'>): void {
  if (locals.stepPending) redirect(302, secondStepPath);
  const user = signedInUser(locals);
  if (user?.reviewPending) redirect(302, reviewPath);
  if (user?.accountStatus === 'active') redirect(302, '/');
}
