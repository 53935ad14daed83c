import { type ErrorCode, errorCodes, toAppError } from '@gatehouse/api/platform/errors';

/** Why a request was refused: the code of its error, and the names of the wrong fields. */
export type Failure = { code: string; fields?: string[] };

type FailedRequest = Pick<App.Locals, 'app' | 'requestId'> & { failure?: Failure };

/**
 * Keeps the code of an error for the request's log line. Logs an unexpected error with the request's
 * id, unless the router has logged it already, as a TRPCError. Neither contains what was sent.
 */
export function recordFailure(locals: FailedRequest, error: unknown): void {
  const { code, fields } = toAppError(error);
  locals.failure = { code, ...(fields && { fields: Object.keys(fields) }) };

  const isLogged = error instanceof Error && error.name === 'TRPCError';
  if (!isLogged && code === 'INTERNAL') locals.app.log.error('request failed', { requestId: locals.requestId, error });
}

/** The failure of a request that was refused with a status alone. */
export function failureOfStatus(status: number): Failure {
  const found = (Object.keys(errorCodes) as ErrorCode[]).find((code) => errorCodes[code].status === status);
  return { code: found ?? String(status) };
}
