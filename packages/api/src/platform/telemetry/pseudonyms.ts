import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import type { Sql } from 'postgres';

/** Returns an id in a form that only this deployment can derive: 16 hex digits, the same on every node. */
export type PseudonymOf = (id: string) => string;

/**
 * Reads the deployment's secret for pseudonyms, and creates it if there is none. The log names
 * users and organisations by pseudonyms: lines of one user can be found together, and a log that
 * leaks reveals no id.
 */
export async function loadPseudonyms(sql: Sql): Promise<PseudonymOf> {
  // The key object is created once, because Node would convert bytes to a key again for each line.
  const key = createSecretKey((await readSecret(sql)) ?? (await makeSecret(sql)), 'base64url');
  const known = new Map<string, string>();
  return (id) => {
    let pseudonym = known.get(id);
    if (pseudonym === undefined) {
      pseudonym = createHmac('sha256', key).update(id).digest('hex').slice(0, 16);
      if (known.size >= maxKnown) known.clear();
      known.set(id, pseudonym);
    }
    return pseudonym;
  };
}

async function readSecret(sql: Sql): Promise<string | undefined> {
  const [secret] = await sql<{ value: string }[]>`
    select value from deployment_secrets where name = 'log-pseudonyms'`;
  return secret?.value;
}

/** Returns the stored secret, which is that of the first process. */
async function makeSecret(sql: Sql): Promise<string> {
  const made = randomBytes(32).toString('base64url');
  const [secret] = await sql<{ value: string }[]>`
    insert into deployment_secrets (name, value) values ('log-pseudonyms', ${made})
    on conflict (name) do update set name = excluded.name returning value`;
  return secret?.value ?? made;
}

/** The number of pseudonyms that a process caches, of about 150 bytes each. */
const maxKnown = 5_000;
