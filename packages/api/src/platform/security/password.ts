import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { z } from 'zod';
import type { KeyedClient } from './client.ts';
import { requesterFor } from './client-key.ts';
import { isCommonPassword } from './common-passwords.ts';
import { fairQueue } from './fairness/fair-queue.ts';
import { normalisePassword, type Password } from './normalise-password.ts';
import { resembles } from './resembles.ts';
import { isStorable } from './text.ts';

/** The Argon2id parameters of OWASP's password storage guidance: 19 MiB, two passes, one lane. */
const hashParameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const minLength = 8;
const maxLength = 256;

/**
 * Returns a sentence that says why a new password of the right form (`newPasswordField`) is not
 * accepted, or null if it is. `forbidden` lists what it must not resemble: the address and the
 * service's name.
 */
export async function passwordFault(password: Password, forbidden: string[]): Promise<string | null> {
  const folded = password.toLowerCase();
  if (await isCommonPassword(folded)) return 'This password is on every list of common passwords. Choose another.';
  if (resembles(folded, forbidden)) {
    return 'A password must not be your address, a part of it or the name of this service, with or without digits.';
  }
  return null;
}

/** The length is counted in code points of the normalised form, so that it does not depend on the keyboard. */
function formFault(password: Password): string | null {
  const length = [...password].length;
  if (!isStorable(password)) return 'This contains characters we can’t store.';
  if (length < minLength) return `Use at least ${minLength} characters.`;
  if (length > maxLength) return `Use at most ${maxLength} characters.`;
  return null;
}

/**
 * The schema of a new password in a request body. It checks the form; `passwordFault` checks the rest. The result is
 * normalised: what checks and hashes the password takes it in no other form.
 */
export const newPasswordField = z
  .string({ error: 'Choose a password.' })
  .transform(normalisePassword)
  .superRefine((password, context) => {
    const fault = formFault(password);
    if (fault !== null) context.addIssue(fault);
  });

const maxWaitMilliseconds = 4_000;

/**
 * Half of the requests that a node admits (apps/server/src/admission.ts), so that a flood of sign-ins leaves room for
 * others.
 */
const maxWaiting = 100;

/** Runs at most one hash per core, so that the service stays responsive under a flood of sign-ins. */
const enqueueHash = fairQueue(availableParallelism(), maxWaiting, maxWaitMilliseconds);

/** Returns the number of hashes that wait for a free core in this process. */
export const hashesWaiting = enqueueHash.waiting;

/**
 * Waits for the turn of a password and begins to hash it. Returns the promise of its Argon2id hash, so that the caller
 * can work while another thread hashes. Clients and their networks take turns.
 *
 * @throws AppError BUSY if too many hashes wait, or if this one waited longer than four seconds.
 */
export function beginHash(password: Password, client: KeyedClient): Promise<{ hashed: Promise<string> }> {
  return new Promise((resolve, reject) => {
    const task = () => {
      const hashed = hash(password, hashParameters);
      resolve({ hashed });
      return hashed;
    };
    enqueueHash(requesterFor(client), task).catch(reject);
  });
}

/**
 * Returns the Argon2id hash of a password.
 *
 * @throws AppError BUSY if too many hashes wait, or if this one waited longer than four seconds.
 */
export async function hashPassword(password: Password, client: KeyedClient): Promise<string> {
  const { hashed } = await beginHash(password, client);
  return hashed;
}

/** The hash that is verified if there is no password, so that the answer takes the same time. */
let dummyHash: Promise<string> | undefined;

/**
 * Whether a password matches a hash. Null as the hash takes the same time and never matches.
 *
 * @throws AppError BUSY if too many hashes wait, or if this one waited longer than four seconds.
 */
export async function verifyPassword(hashed: string | null, password: string, client: KeyedClient): Promise<boolean> {
  dummyHash ??= hash('no account has this password', hashParameters);
  const comparedHash = hashed ?? (await dummyHash);
  const matches = await enqueueHash(requesterFor(client), () =>
    verify(comparedHash, normalisePassword(password).slice(0, 4 * maxLength)),
  );
  return matches && hashed !== null;
}
