import { fail, type RequestEvent } from '@sveltejs/kit';
import { type RefusalBody, refusal } from '#lib/server/refusal.ts';

/**
 * A form action's answer to a refusal: the JSON endpoint's status and body, and with them what the
 * page needs to show its form as it was typed. What is nobody's doing is logged, as in handleError.
 */
export function refused<Shown extends object>(
  { locals, route, setHeaders }: RequestEvent,
  thrown: unknown,
  shown: (body: RefusalBody) => Shown,
) {
  const { status, body, retryAfterSeconds } = refusal(thrown);
  if (retryAfterSeconds !== undefined) setHeaders({ 'retry-after': String(retryAfterSeconds) });
  if (status >= 500) {
    locals.app.log.error('request failed', { requestId: locals.requestId, route: route.id, error: thrown });
  }
  return fail(status, { ...body, ...shown(body) });
}
