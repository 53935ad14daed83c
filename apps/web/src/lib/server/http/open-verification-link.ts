import { type FailedOutcome, type Outcome, verifyEmail } from '@gatehouse/api/auth/verification/verify-email';
import { readCookie } from '@gatehouse/api/http/cookies';
import { recordFailure } from '@gatehouse/api/http/error-response';
import { isNavigation, isPrefetch } from '@gatehouse/api/http/request-guard';
import { error, type RequestEvent } from '@sveltejs/kit';
import { texts } from '#lib/language/texts.ts';
import type { RouterOutputs } from '#lib/router.ts';
import { pageErrorOf, sentenceOf } from '../language/page-error.ts';

export type VerificationFailure = FailedOutcome & OfToken;
type VerificationSuccess = Extract<Outcome, { ok: true }> & OfToken;

/** What the forms of the page would change and end. */
type OfToken = {
  reset: RouterOutputs['accounts']['passwordToken'] | null;
  change: RouterOutputs['accounts']['changeToken'] | null;
};

/**
 * Opens the link of a request to /verify and returns its outcome, or null where the request
 * opens none. Only a GET of the page itself reads the token; prefetches are rejected, because
 * only the user's click may open a link.
 *
 * @throws Kit's error with status 400 for a link that does not work (its `verification` says what
 *   the page shows), 403 for a request that is not a navigation, 429 over the limit, 503 for a
 *   prefetch.
 */
export async function openVerificationLink(event: RequestEvent): Promise<VerificationSuccess | null> {
  const { request, isDataRequest } = event;
  if (request.method !== 'GET' || isDataRequest) return null;
  if (isPrefetch(request.headers)) error(503, { message: texts('link').openByClicking });
  if (!isNavigation(request.headers)) error(403, { message: texts('link').openByClicking });

  const outcome = await withFacts(event, await verify(event));
  if (!outcome.ok) error(400, { message: sentenceOf(outcome.text, 'VALIDATION'), verification: outcome });
  return outcome;
}

async function withFacts<Opened extends Outcome>({ locals }: RequestEvent, outcome: Opened): Promise<Opened & OfToken> {
  const { accounts } = locals.api;
  const password = 'offers' in outcome ? outcome.offers.password : null;
  return {
    ...outcome,
    reset: password === null ? null : await accounts.passwordToken({ token: password.token }),
    change: 'changeToken' in outcome ? await accounts.changeToken({ token: outcome.changeToken }) : null,
  };
}

async function verify({ locals, url, cookies, setHeaders }: RequestEvent): Promise<Outcome> {
  const { app, client } = locals;
  const opened = {
    token: url.searchParams.get('token') ?? '',
    browserToken: readCookie(app, cookies, 'signup'),
    sessionToken: readCookie(app, cookies, 'session'),
  };
  try {
    return await verifyEmail(app, opened, client);
  } catch (thrown) {
    const { status, body, retryAfterSeconds } = pageErrorOf(thrown);
    recordFailure(locals, thrown);
    if (retryAfterSeconds !== undefined) setHeaders({ 'retry-after': String(retryAfterSeconds) });
    return error(status, body.error);
  }
}
