import type { Sql } from 'postgres';

const defaultMilliseconds = 4_000;

/**
 * Checks that the database answers within four seconds, or within `timeoutMilliseconds`. The driver's own
 * timeout does not end a connection to an address that never responds.
 *
 * @throws Error with the code CONNECT_TIMEOUT if it does not, or the driver's error.
 */
export async function pingDatabase(sql: Sql, timeoutMilliseconds = defaultMilliseconds): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    const error = Object.assign(new Error('The database does not answer.'), { code: 'CONNECT_TIMEOUT' });
    timer = setTimeout(() => reject(error), timeoutMilliseconds);
  });
  try {
    await Promise.race([sql`select 1`, silence]);
  } finally {
    clearTimeout(timer);
  }
}
