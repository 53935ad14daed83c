import { eq } from 'drizzle-orm';
import type { Config } from '../config.ts';
import type { Executor } from '../db/client.ts';
import { deploymentSecrets } from '../db/schema/deployment.ts';
import { decryptSecret, encryptSecret } from './encryption.ts';
import { newToken } from './token.ts';

/** A random key that all nodes share, kept in the database. */
export type SecretName = 'challenges' | 'trials' | 'sign-ups' | 'log-pseudonyms';

/** Where it is kept: the database, or a transaction in it. */
type Place = { config: Pick<Config, 'secretKeys'>; db: Executor };

/**
 * Returns a random key of the deployment, and creates it if there is none. It is encrypted where SECRET_KEY is set, and
 * stays the same after a roll.
 *
 * @throws Error if it cannot be decrypted.
 */
export async function deploymentSecret(app: Place, name: SecretName): Promise<string> {
  const row = (await read(app, name)) ?? (await create(app, name));
  const secret = row && decryptSecret(app.config.secretKeys, { ...row, stored: row.value }, secretPurpose(name));
  if (!secret) throw new Error(`The secret "${name}" cannot be decrypted: SECRET_KEY lacks the key that encrypted it.`);
  return secret;
}

/** What the encryption of a secret is bound to. */
export function secretPurpose(name: string): string {
  return `deployment secret ${name}`;
}

async function read({ db }: Place, name: SecretName) {
  const [row] = await db.select().from(deploymentSecrets).where(eq(deploymentSecrets.name, name));
  return row;
}

/** Of parallel nodes the first creates it. */
async function create(app: Place, name: SecretName) {
  const { stored: value, encryptedBy } = encryptSecret(app.config.secretKeys, newToken(), secretPurpose(name));
  await app.db.insert(deploymentSecrets).values({ name, value, encryptedBy }).onConflictDoNothing();
  return read(app, name);
}
