import { finishSignIn } from '@gatehouse/api/auth/sign-in/attempt';
import { clearCookie, readCookie } from '@gatehouse/api/http/cookies';
import { requireNavigation } from '@gatehouse/api/http/request-guard';
import { toAppError } from '@gatehouse/api/platform/errors';
import { type RequestHandler, redirect } from '@sveltejs/kit';
import { rememberReturnPath } from '#lib/server/session/return-url.ts';

/** Handles the identity provider's response. Every failure is the same redirect, byte for byte; the reason is logged. */
export const GET: RequestHandler = async (event) => {
  const { url, request, locals, cookies } = event;
  const { app, client, requestId } = locals;
  if (app.idp === null) redirect(302, '/login');
  const answer = {
    state: url.searchParams.get('state'),
    code: url.searchParams.get('code'),
    error: url.searchParams.get('error'),
    attemptCookie: readCookie(app, cookies, 'attempt'),
    invitation: readCookie(app, cookies, 'invitation'),
    sessionToken: readCookie(app, cookies, 'session'),
  };

  try {
    requireNavigation(request.headers);
    // An error of the provider leaves the attempt as it is.
    if (!answer.error) clearCookie(app, cookies, 'attempt');
    const finished = await finishSignIn(app, answer, client);
    if ('freshToken' in finished) {
      await locals.session.renew(finished.freshToken);
      const { returnTo, waitsForCode } = finished;
      if (waitsForCode) await rememberReturnPath(event, codePage(returnTo));
      else if (returnTo !== null) await rememberReturnPath(event, returnTo);
    } else {
      await locals.session.start(finished);
    }
  } catch (error) {
    // The account has a second factor: / leads to it.
    if (toAppError(error).code === 'SECOND_FACTOR_REQUIRED') redirect(302, '/');
    app.log.warn('sign-in through the identity provider failed', { requestId, error });
    redirect(302, '/login?error=idp');
  }
  redirect(302, '/');
};

/** The page that asks for the code that completes a fresh sign-in, and then leads on. */
function codePage(returnTo: string | null): string {
  return `/account/security?${new URLSearchParams({ return_to: returnTo ?? '/account/security' })}`;
}

/** HEAD requests have no side effects: no session starts. */
export const HEAD: RequestHandler = () => redirect(302, '/login');
