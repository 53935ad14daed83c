import type { Principal } from '@gatehouse/api/sessions/principal';
import { type RequestEvent, redirect } from '@sveltejs/kit';

type Asked = Pick<RequestEvent, 'locals' | 'url'>;

/**
 * Whoever may see this page; everybody else is led to where they stand: nobody to
 * /login, a shut gate to /awaiting-approval, and / to /onboarding until the first
 * screen was passed.
 */
export function requirePage({ locals: { principal }, url }: Asked): Principal {
  if (principal === null) redirect(302, '/login');
  if (principal.gate !== 'open') redirect(302, '/awaiting-approval');
  if (url.pathname === '/' && principal.user.onboardedAt === null) redirect(302, '/onboarding');
  return principal;
}

/** /login and /signup are for nobody in particular: whoever is signed in goes on to /. */
export function redirectSignedIn({ locals: { principal } }: Pick<Asked, 'locals'>): void {
  if (principal !== null) redirect(302, '/');
}

/** /awaiting-approval with both gates open has nothing to say. */
export function redirectApproved({ locals: { principal } }: Pick<Asked, 'locals'>): void {
  if (principal?.gate === 'open') redirect(302, '/');
}
