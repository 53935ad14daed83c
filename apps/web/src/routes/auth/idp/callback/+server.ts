import { finishSignIn } from '@gatehouse/api/sign-in/finish-sign-in';
import { type RequestHandler, redirect } from '@sveltejs/kit';
import { requireNavigation } from '#lib/server/guards/navigation.ts';
import { clearCookie, readCookie, sessionActions } from '#lib/server/session/cookies.ts';

/** Back from the identity provider. Every failure is the same redirect, byte for byte; its reason goes to the log. */
export const GET: RequestHandler = async ({ url, request, locals, cookies }) => {
  const { app, client, requestId } = locals;
  if (app.idp === null) redirect(302, '/login');
  const answer = {
    state: url.searchParams.get('state'),
    code: url.searchParams.get('code'),
    error: url.searchParams.get('error'),
    attemptCookie: readCookie(app, cookies, 'attempt'),
    invitation: readCookie(app, cookies, 'invitation'),
    sessionId: readCookie(app, cookies, 'session'),
  };

  try {
    requireNavigation(request.headers);
    // A provider's error is answered before the attempt is touched.
    if (!answer.error) clearCookie(app, cookies, 'attempt');
    await sessionActions({ locals, cookies }).start(await finishSignIn(app, answer, client));
  } catch (error) {
    app.log.warn('sign-in through the identity provider failed', { requestId, error });
    redirect(302, '/login?error=idp');
  }
  redirect(302, '/');
};

/** Changes nothing: whoever only looks signs nobody in. */
export const HEAD: RequestHandler = () => redirect(302, '/login');
