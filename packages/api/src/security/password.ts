import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { z } from 'zod';
import { clientKey, clientNetwork } from './client-key.ts';
import { commonPasswords } from './common-passwords.ts';
import { fairQueue } from './fair-queue.ts';
import { isStorable } from './text.ts';

/** Argon2id as OWASP's password storage guidance has it: 19 MiB, two passes, one lane. */
const strength = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const fewestCharacters = 8;
const mostCharacters = 256;

/** The form in which a password is counted, hashed and compared: NFKC, never trimmed. */
function normalise(password: string): string {
  return password.normalize('NFKC');
}

/**
 * Why a password is refused, or null where it will do. Length is counted in code
 * points after normalising, so that nobody is turned away for their keyboard.
 * `resembling` is what it must not be: the address, the service's name.
 */
export function passwordFault(password: string, resembling: string[] = []): string | null {
  const normal = normalise(password);
  const length = [...normal].length;
  if (!isStorable(password)) return 'This password holds characters that cannot be kept.';
  if (length < fewestCharacters) return `Use at least ${fewestCharacters} characters.`;
  if (length > mostCharacters) return `Use at most ${mostCharacters} characters.`;

  const folded = normal.toLowerCase();
  if (commonPasswords.has(folded)) return 'This password is on every list of common passwords. Choose another.';
  if (resembling.some((text) => normalise(text).toLowerCase() === folded)) {
    return 'A password must not be your address or the name of this service.';
  }
  return null;
}

/** A new password in a body, judged as far as it can be by itself. */
export const newPasswordField = z.string({ error: 'Choose a password.' }).superRefine((password, context) => {
  const fault = passwordFault(password);
  if (fault !== null) context.addIssue(fault);
});

/** Hashes at once never exceed the cores: a flood of sign-ins leaves the rest of the service alive. */
const inTurn = fairQueue(availableParallelism(), 200);

/** How many hashes wait for a free core in this process. */
export const hashesWaiting = inTurn.waiting;

/** Whose turn a hash takes: clients are served in turn, and so are the networks that they belong to. */
type Client = { address: string };

/** @throws Refusal BUSY where too many hashes wait. */
export function hashPassword(password: string, client: Client): Promise<string> {
  return inTurn(askerOf(client), () => hash(normalise(password), strength));
}

/** Stands in where there is no password to compare with, so that the answer takes as long as any other. */
let dummyHash: Promise<string> | undefined;

/**
 * Whether the password is the hashed one. Null for `hashed` costs the same time and is never right.
 *
 * @throws Refusal BUSY where too many hashes wait.
 */
export async function verifyPassword(hashed: string | null, password: string, client: Client): Promise<boolean> {
  dummyHash ??= hash('no account has this password', strength);
  const against = hashed ?? (await dummyHash);
  const right = await inTurn(askerOf(client), () => verify(against, normalise(password).slice(0, 4 * mostCharacters)));
  return right && hashed !== null;
}

function askerOf({ address }: Client) {
  const client = clientKey(address);
  return { client, network: clientNetwork(address) ?? client };
}
