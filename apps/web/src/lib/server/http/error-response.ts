import { errorCodes, toAppError } from '@gatehouse/api/platform/errors';

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

/** The headers of an error after the guards: an API key can be revoked before the body of its request arrives. */
export function challengeHeaders({ principal }: Pick<App.Locals, 'principal'>, error: unknown): Record<string, string> {
  return principal?.kind === 'key' ? rejectionHeaders(error, null) : {};
}

/** The headers that a guard's error requires. Of the guards only that of API keys answers 401 (RFC 6750 §3). */
export function rejectionHeaders(error: unknown, methods: string[] | null): Record<string, string> {
  const { code } = toAppError(error);
  if (code === 'UNAUTHENTICATED') return { 'www-authenticate': 'Bearer error="invalid_token"' };
  return code === 'METHOD_NOT_ALLOWED' && methods !== null ? { allow: methods.join(', ') } : {};
}
