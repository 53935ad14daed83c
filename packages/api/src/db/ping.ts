import type { Sql } from 'postgres';

const patienceMilliseconds = 4_000;

/**
 * Throws where the database does not answer soon, for whoever does not wait for it. The
 * driver's own limit does not end a connection to an address where nobody says no.
 */
export async function pingDatabase(sql: Sql): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    const error = Object.assign(new Error('The database does not answer.'), { code: 'CONNECT_TIMEOUT' });
    timer = setTimeout(() => reject(error), patienceMilliseconds);
  });
  try {
    await Promise.race([sql`select 1`, silence]);
  } finally {
    clearTimeout(timer);
  }
}
