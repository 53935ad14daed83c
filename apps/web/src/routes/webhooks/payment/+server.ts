import { receiveEvent } from '@gatehouse/api/billing/events/receive-event';
import type { RequestHandler } from '@sveltejs/kit';
import { errorResponse } from '#lib/server/http/error-response.ts';
import { readBytes } from '#lib/server/http/read-body.ts';
import { recordFailure } from '#lib/server/http/record-failure.ts';

/** Receives signed events, verified on their exact bytes. The status codes are those of the interface §4. */
export const POST: RequestHandler = async ({ request, locals }) => {
  try {
    const body = await readBytes(request, locals.accepted.largestBody);
    // The interface's name comes first; the provider sends the other one.
    const signature = request.headers.get('payment-signature') ?? request.headers.get('stripe-signature') ?? '';
    return Response.json(await receiveEvent(locals.app, { body, signature }));
  } catch (error) {
    recordFailure(locals, error);
    return errorResponse(error);
  }
};
