import { type ErrorCode, errorCodes, toAppError } from '../platform/errors.ts';
import type { Failure, RequestState } from './request.ts';

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

/** The headers that a guard's error requires. Of the guards only that of API keys answers 401 (RFC 6750 §3). */
export function rejectionHeaders(error: unknown, methods: string[] | null): Record<string, string> {
  const { code } = toAppError(error);
  if (code === 'UNAUTHENTICATED') return { 'www-authenticate': 'Bearer error="invalid_token"' };
  return code === 'METHOD_NOT_ALLOWED' && methods !== null ? { allow: methods.join(', ') } : {};
}

type FailedRequest = Pick<RequestState, 'app' | 'requestId' | 'failure'>;

/**
 * Keeps the code of an error for the request's log line. Logs an unexpected error with the request's
 * id, unless the router has logged it already, as a TRPCError. Neither contains what was sent.
 */
export function recordFailure(state: FailedRequest, error: unknown): void {
  state.app.databaseHealth.failed(error);
  const { code, fields, aboutUserId } = toAppError(error);
  state.failure = {
    code,
    ...(fields && { fields: Object.keys(fields) }),
    ...(aboutUserId !== null && { user: state.app.pseudonymOf(aboutUserId) }),
  };

  const isLogged = error instanceof Error && error.name === 'TRPCError';
  if (!isLogged && code === 'INTERNAL') state.app.log.error('request failed', { requestId: state.requestId, error });
}

/** The failure of a request that was refused with a status alone. */
export function failureOfStatus(status: number): Failure {
  const found = (Object.keys(errorCodes) as ErrorCode[]).find((code) => errorCodes[code].status === status);
  return { code: found ?? String(status) };
}
