import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { z } from 'zod';
import { clientKey, clientNetwork } from './client-key.ts';
import { isCommonPassword } from './common-passwords.ts';
import { fairQueue } from './fair-queue.ts';
import { normalisePassword } from './fold-password.ts';
import { resembles } from './resembles.ts';
import { isStorable } from './text.ts';

/** Argon2id as OWASP's password storage guidance has it: 19 MiB, two passes, one lane. */
const strength = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const fewestCharacters = 8;
const mostCharacters = 256;

/**
 * Why a new password is refused, or null where it is accepted. `resembling` is what it
 * must not be: the address, the service's name.
 */
export async function passwordFault(password: string, resembling: string[]): Promise<string | null> {
  const fault = formFault(password);
  if (fault !== null) return fault;
  if (await isCommonPassword(password)) return 'This password is on every list of common passwords. Choose another.';
  if (resembles(password, resembling)) {
    return 'A password must not be your address, a part of it or the name of this service, with or without digits.';
  }
  return null;
}

/** Length is counted in code points after normalising, so that no keyboard is at a disadvantage. */
function formFault(password: string): string | null {
  const length = [...normalisePassword(password)].length;
  if (!isStorable(password)) return 'This password holds characters that cannot be kept.';
  if (length < fewestCharacters) return `Use at least ${fewestCharacters} characters.`;
  if (length > mostCharacters) return `Use at most ${mostCharacters} characters.`;
  return null;
}

/** A new password in a body, checked for its form. `passwordFault` checks the rest. */
export const newPasswordField = z.string({ error: 'Choose a password.' }).superRefine((password, context) => {
  const fault = formFault(password);
  if (fault !== null) context.addIssue(fault);
});

/** Hashes at once never exceed the cores: a flood of sign-ins leaves the rest of the service alive. */
const inTurn = fairQueue(availableParallelism(), 200);

/** How many hashes wait for a free core in this process. */
export const hashesWaiting = inTurn.waiting;

/** Whose turn a hash takes: clients are served in turn, and so are the networks that they belong to. */
type Client = { address: string };

/** @throws AppError BUSY where too many hashes wait. */
export function hashPassword(password: string, client: Client): Promise<string> {
  return inTurn(askerOf(client), () => hash(normalisePassword(password), strength));
}

/** Stands in where there is no password to compare with, so that the answer takes as long as any other. */
let dummyHash: Promise<string> | undefined;

/**
 * Whether the password is the hashed one. Null for `hashed` costs the same time and is never right.
 *
 * @throws AppError BUSY where too many hashes wait.
 */
export async function verifyPassword(hashed: string | null, password: string, client: Client): Promise<boolean> {
  dummyHash ??= hash('no account has this password', strength);
  const against = hashed ?? (await dummyHash);
  const right = await inTurn(askerOf(client), () =>
    verify(against, normalisePassword(password).slice(0, 4 * mostCharacters)),
  );
  return right && hashed !== null;
}

function askerOf({ address }: Client) {
  const client = clientKey(address);
  return { client, network: clientNetwork(address) ?? client };
}
