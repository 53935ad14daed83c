import { explainDatabaseFailure } from '@gatehouse/api/platform/errors';
import { describeError } from '@gatehouse/api/platform/log';

/**
 * Returns the sentence that says why a command failed. Errors that were thrown for operators are
 * their own sentence; errors of the driver are explained.
 */
export function cliError(error: unknown): string {
  if (!(error instanceof Error)) return describeError(error);
  if ('code' in error && error.code === 'BILLING_UNAVAILABLE')
    return 'Billing is off, because PAYMENT_SECRET_KEY is not set.';
  if (isSentence(error)) return error.message;

  return explainDatabaseFailure(error) ?? `It failed: ${describeError(error)}`;
}

/** Errors of the database driver have a code, and those of drizzle start with "Failed query". */
function isSentence(error: Error): boolean {
  if (['AppError', 'ConfigError'].includes(error.name)) return true;
  return error.name === 'Error' && !('code' in error) && !error.message.startsWith('Failed query');
}
