import { fail, type RequestEvent } from '@sveltejs/kit';
import { type ErrorBody, httpErrorOf } from '#lib/server/http/error-response.ts';

/**
 * A form action's answer to a httpErrorOf: the JSON endpoint's status and body, and with them what the
 * page needs to show its form as it was typed. The router has logged what is nobody's mistake.
 */
export function actionFailure<Shown extends object>(
  { setHeaders }: Pick<RequestEvent, 'setHeaders'>,
  thrown: unknown,
  shown: (body: ErrorBody) => Shown,
) {
  const { status, body, retryAfterSeconds } = httpErrorOf(thrown);
  if (retryAfterSeconds !== undefined) setHeaders({ 'retry-after': String(retryAfterSeconds) });
  return fail(status, { ...body, ...shown(body) });
}
