import { refusals, toRefusal } from '@gatehouse/api/errors';

export type RefusalBody = { error: string; code: string; fields?: Record<string, string> };

/** Any thrown thing as the answer that pages and JSON endpoints give: a status and a body. */
export function refusal(error: unknown): { status: number; body: RefusalBody; retryAfterSeconds?: number } {
  const { code, message, fields, retryAfterSeconds } = toRefusal(error);
  return {
    status: refusals[code].status,
    body: { error: message, code, ...(fields && { fields }) },
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}

/** The same as a JSON response. */
export function refusalResponse(error: unknown, headers: Record<string, string> = {}): Response {
  const { status, body, retryAfterSeconds } = refusal(error);
  return Response.json(body, {
    status,
    headers: { ...headers, ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }) },
  });
}
