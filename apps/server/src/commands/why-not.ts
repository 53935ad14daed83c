import { isDatabaseAway } from '@gatehouse/api/errors';
import { describeError } from '@gatehouse/api/log';

const unreachable = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/** In a sentence, why a command was not done. What was thrown for an operator to read says it itself. */
export function whyNot(error: unknown): string {
  if (!(error instanceof Error)) return describeError(error);
  if (isSentence(error)) return error.message;

  const root = rootOf(error);
  const code = 'code' in root ? String(root.code) : root.name;
  if (isDatabaseAway(error) || unreachable.has(code)) {
    return `The database does not answer (${code}): start it, or correct DATABASE_URL.`;
  }
  // The SQLSTATE classes of a user and of a database that the server does not know.
  if (/^(28|3D)/.test(code)) return `The database refuses: ${root.message}. Correct DATABASE_URL.`;
  return `It failed: ${describeError(error)}`;
}

/** The driver's errors have a code, and drizzle's begin like that. */
function isSentence(error: Error): boolean {
  if (['Refusal', 'ConfigError', 'WrongUse'].includes(error.name)) return true;
  return error.name === 'Error' && !('code' in error) && !error.message.startsWith('Failed query');
}

function rootOf(error: Error): Error {
  return error.cause instanceof Error ? rootOf(error.cause) : error;
}
