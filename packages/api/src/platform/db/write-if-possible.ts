import type { App } from '../../app.ts';
import { writeRefusalOf } from '../errors.ts';

/**
 * Waits for a write that comes with a read, such as the time at which a session was last used. The read goes on without
 * it while the database refuses to write: otherwise a full disk would end every session's reads. The refusal is
 * counted and logged.
 *
 * @throws what the write throws, if the database does not refuse it.
 */
export async function writeIfPossible(
  { databaseHealth }: Pick<App, 'databaseHealth'>,
  write: PromiseLike<unknown>,
): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (writeRefusalOf(error) === null) throw error;
    databaseHealth.failed(error);
  }
}
