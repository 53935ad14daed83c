import { type Outcome, verifyEmail } from '@gatehouse/api/accounts/verify-email';
import { error, type RequestEvent } from '@sveltejs/kit';
import { readCookie } from './cookies.ts';
import { isNavigation, isPrefetch } from './navigation.ts';
import { refusal } from './refusal.ts';

export type VerificationFailure = Omit<Outcome, 'ok'>;

const openByClicking = 'Open this link by clicking it.';

const nothingLooked: Outcome = {
  ok: true,
  message: null,
  awaitingApproval: true,
  invited: false,
  confirmedAlready: false,
  addressChanged: false,
  firstPasswordToken: null,
  approvalToken: null,
};

/**
 * Opens the link of a request to /verify and answers its outcome. Nothing but GET for
 * the page itself looks at the token, and a prefetch is sent away: a link is for
 * whoever clicks it.
 *
 * @throws Kit's error with status 400 for a dead link, 403 for a request that is no navigation,
 *   429 over the limit, 503 for a prefetch; what the page has to say is in its `verification`.
 */
export async function openVerificationLink(event: RequestEvent): Promise<Outcome> {
  const { request, url, isDataRequest, locals, cookies, setHeaders } = event;
  if (request.method !== 'GET' || isDataRequest) return nothingLooked;
  if (isPrefetch(request.headers)) error(503, { message: openByClicking });
  if (!isNavigation(request.headers)) {
    error(403, { message: openByClicking, verification: { ...nothingLooked, message: openByClicking } });
  }

  const { app, client } = locals;
  const token = url.searchParams.get('token') ?? '';
  const outcome = await verifyEmail(app, { token, browserToken: readCookie(app, cookies, 'signup') }, client).catch(
    (thrown) => {
      const { status, body, retryAfterSeconds } = refusal(thrown);
      if (status >= 500) app.log.error('verification failed', { requestId: locals.requestId, error: thrown });
      if (retryAfterSeconds !== undefined) setHeaders({ 'retry-after': String(retryAfterSeconds) });
      return error(status, { message: body.error, verification: { ...nothingLooked, message: body.error } });
    },
  );
  if (!outcome.ok) error(400, { message: outcome.message ?? '', verification: outcome });
  return outcome;
}
