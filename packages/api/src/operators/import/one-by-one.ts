import { isAppError, isDatabaseUnavailable } from '../../platform/errors.ts';
import { describeError } from '../../platform/log.ts';

type Failure = { failed: string };

/**
 * Stores lines together; if that fails, for example because a person signs up meanwhile, one after the other, so that
 * only those fail that fail alone. Returns what `store` returns of each.
 */
export async function storeAllOrOneByOne<Line, Outcome>(
  lines: Line[],
  store: (lines: Line[]) => Promise<Outcome[]>,
): Promise<(Outcome | Failure)[]> {
  if (lines.length === 0) return [];
  try {
    return await store(lines);
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error;
    const outcomes: (Outcome | Failure)[] = [];
    for (const line of lines) outcomes.push(...(await store([line]).catch((error) => [failureOf(error)])));
    return outcomes;
  }
}

/**
 * Returns the sentence that reports a line.
 *
 * @throws the error where the database is away: the rest of the file would fail by it too.
 */
export function failureOf(error: unknown): Failure {
  if (isDatabaseUnavailable(error)) throw error;
  if (isAppError(error)) return { failed: error.message };
  const isSentence = error instanceof Error && error.name === 'Error' && !error.message.startsWith('Failed query');
  return { failed: isSentence ? error.message : describeError(error) };
}
