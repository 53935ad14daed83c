import { fail, type RequestEvent } from '@sveltejs/kit';
import { type RefusalBody, refusal } from '#lib/server/refusal.ts';

/**
 * A form action's answer to a refusal: the JSON endpoint's status and body, and with them what the
 * page needs to show its form as it was typed. The router has logged what is nobody's mistake.
 */
export function refused<Shown extends object>(
  { setHeaders }: Pick<RequestEvent, 'setHeaders'>,
  thrown: unknown,
  shown: (body: RefusalBody) => Shown,
) {
  const { status, body, retryAfterSeconds } = refusal(thrown);
  if (retryAfterSeconds !== undefined) setHeaders({ 'retry-after': String(retryAfterSeconds) });
  return fail(status, { ...body, ...shown(body) });
}
