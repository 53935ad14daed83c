import { createHmac, createSecretKey } from 'node:crypto';
import type { Executor } from '../db/client.ts';
import { deploymentSecret } from '../security/deployment-secret.ts';

/** Returns an id in a form that only this deployment can derive: 16 hex digits, the same on every node. */
export type PseudonymOf = (id: string) => string;

/**
 * Reads the deployment's secret for pseudonyms, and creates it if there is none. The log names
 * users and organisations by pseudonyms: lines of one user can be found together, and a log that
 * leaks reveals no id. The secret is not encrypted: a reader of the database knows the ids.
 */
export async function loadPseudonyms(db: Executor): Promise<PseudonymOf> {
  const secret = await deploymentSecret({ db, config: { secretKeys: [] } }, 'log-pseudonyms');
  // The key object is created once, because Node would convert bytes to a key again for each line.
  const key = createSecretKey(secret, 'base64url');
  return (id) => createHmac('sha256', key).update(id).digest('hex').slice(0, 16);
}
