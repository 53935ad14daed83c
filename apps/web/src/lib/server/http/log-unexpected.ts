import { toAppError } from '@gatehouse/api/errors';

/** Logs an unexpected error with the request's id. The router has logged its own, the TRPCErrors. */
export function logUnexpected({ app, requestId }: Pick<App.Locals, 'app' | 'requestId'>, error: unknown): void {
  const isLogged = error instanceof Error && error.name === 'TRPCError';
  if (!isLogged && toAppError(error).code === 'INTERNAL') app.log.error('request failed', { requestId, error });
}
