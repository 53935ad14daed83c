import { startSignIn } from '@gatehouse/api/auth/sign-in/attempt';
import { readCookie, writeCookie } from '@gatehouse/api/http/cookies';
import { requireNavigation } from '@gatehouse/api/http/request-guard';
import { type RequestHandler, redirect } from '@sveltejs/kit';
import { rememberReturnUrl } from '#lib/server/session/return-url.ts';

/**
 * Redirects to the identity provider. Every failure is the same redirect; the reason is logged. Without the feature
 * there is only the redirect to /login.
 */
export const GET: RequestHandler = async (event) => {
  const { locals, cookies, request } = event;
  const { app, client, requestId } = locals;
  const attemptCookie = readCookie(app, cookies, 'attempt');

  const started = await rememberReturnUrl(event)
    .then(() => {
      if (app.idp !== null) requireNavigation(request.headers);
      return startSignIn(app, { attemptCookie }, client);
    })
    .catch((error) => {
      app.log.warn('sign-in through the identity provider did not start', { requestId, error });
      return app.idp === null ? null : redirect(302, '/login?error=idp');
    });
  if (started === null) redirect(302, '/login');

  writeCookie(app, cookies, 'attempt', started.cookie);
  redirect(302, started.url, { external: true });
};

/** HEAD requests have no side effects: no attempt starts. */
export const HEAD: RequestHandler = () => redirect(302, '/login');
