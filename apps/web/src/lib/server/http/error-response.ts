import { errorCodes, toAppError } from '@gatehouse/api/errors';

export type ErrorBody = { error: string; code: string; fields?: Record<string, string> };

/** Any thrown thing as the answer that pages and JSON endpoints give: a status and a body. */
export function httpErrorOf(error: unknown): { status: number; body: ErrorBody; retryAfterSeconds?: number } {
  const { code, message, fields, retryAfterSeconds } = toAppError(error);
  return {
    status: errorCodes[code].status,
    body: { error: message, code, ...(fields && { fields }) },
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}

/** The same as a JSON response. */
export function errorResponse(error: unknown, headers: Record<string, string> = {}): Response {
  const { status, body, retryAfterSeconds } = httpErrorOf(error);
  return Response.json(body, {
    status,
    headers: { ...headers, ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }) },
  });
}
