import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import type { ClientAddress } from './client.ts';
import { createHashQueue } from './hash-queue.ts';
import { isImported, verifyImported } from './imported-hash.ts';
import { maxLength, normalisePassword, type Password } from './password-rules.ts';

/** The Argon2id parameters of OWASP's password storage guidance: 19 MiB, two passes, one lane. */
const hashParameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const maxWaitMilliseconds = 4_000;

/**
 * Fewer than the requests to the API that a node admits (apps/server/src/admission.ts), so that a flood of sign-ins
 * leaves room for others. A client alone gets a third, which is more than the 60 failures that its limit allows.
 */
const maxWaiting = 200;

/** Runs at most one hash per core, so that the service stays responsive under a flood of sign-ins. */
const enqueueHash = createHashQueue(availableParallelism(), maxWaiting, maxWaitMilliseconds);

/** Returns the number of hashes that wait for a free core in this process. */
export const hashesWaiting = enqueueHash.waiting;

/**
 * Waits for the turn of a password and begins to hash it. Returns the promise of its Argon2id hash, so that the caller
 * can work while another thread hashes. Clients take turns.
 *
 * @throws AppError BUSY if too many hashes wait, or if this one waited longer than four seconds.
 */
export function beginHash(password: Password, client: ClientAddress): Promise<{ hashed: Promise<string> }> {
  return new Promise((resolve, reject) => {
    const task = () => {
      const hashed = hash(password, hashParameters);
      resolve({ hashed });
      return hashed;
    };
    enqueueHash(client, task).catch(reject);
  });
}

/**
 * Returns the Argon2id hash of a password.
 *
 * @throws AppError BUSY if too many hashes wait, or if this one waited longer than four seconds.
 */
export async function hashPassword(password: Password, client: ClientAddress): Promise<string> {
  const { hashed } = await beginHash(password, client);
  return hashed;
}

/** The hash that is verified if there is no password, so that the answer takes the same time. */
let dummyHash: Promise<string> | undefined;

/** The most of a typed password that is compared: what a password may have, in UTF-16. */
const maxTyped = 4 * maxLength;

/** Returns the form in which a password that was just compared is hashed. */
export function comparedForm(typed: string): Password {
  return normalisePassword(typed).slice(0, maxTyped) as Password;
}

/**
 * Whether a password matches a hash, also one of another system. Null as the hash takes the same time and never matches.
 *
 * @throws AppError BUSY if too many hashes wait, or if this one waited longer than four seconds.
 */
export async function verifyPassword(hashed: string | null, password: string, client: ClientAddress): Promise<boolean> {
  dummyHash ??= hash('no account has this password', hashParameters);
  const comparedHash = hashed ?? (await dummyHash);
  const matches = await enqueueHash(client, () =>
    isImported(comparedHash)
      ? verifyImported(comparedHash, password.slice(0, maxTyped))
      : verify(comparedHash, comparedForm(password)),
  );
  return matches && hashed !== null;
}
