import { errorCodes, toAppError } from '@gatehouse/api/errors';

export type ErrorBody = { error: string; code: string; fields?: Record<string, string> };

/** The status and body with which pages and JSON endpoints answer a thrown error. */
export function httpErrorOf(error: unknown): { status: number; body: ErrorBody; retryAfterSeconds?: number } {
  const { code, message, fields, facts, retryAfterSeconds } = toAppError(error);
  return {
    status: errorCodes[code].status,
    body: { ...facts, error: message, code, ...(fields && { fields }) },
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}

/** A thrown error as a JSON response. */
export function errorResponse(error: unknown, headers: Record<string, string> = {}): Response {
  const { status, body, retryAfterSeconds } = httpErrorOf(error);
  return Response.json(body, {
    status,
    headers: { ...headers, ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }) },
  });
}
