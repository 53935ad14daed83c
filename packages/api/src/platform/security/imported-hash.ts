import { pbkdf2, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { verify as verifyArgon2 } from '@node-rs/argon2';

// Hashes of other systems. They are stored as `imported:DATE:HASH` until the first sign-in replaces them, so that what is
// imported, and since when, is one value with the hash. HASH is as the other system wrote it; a scrypt hash, which does
// not name its parameters, follows its format: scrypt:16384:16:1:SALT:KEY.

const mark = 'imported:';

const ownHash = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/;

/**
 * Returns how a hash of an import is stored, of which `format` names what its form does not show. An argon2id hash of our
 * own parameters is one of ours.
 *
 * @throws Error with a sentence if the form or the format is not known, or if a comparison would be too dear.
 */
export function storedForm({ hash, format }: { hash: string; format?: string | undefined }, today: string): string {
  const named = format === undefined ? hash : `${format}:${hash}`;
  const kind = kindOf(named);
  if (kind === null) throw new Error(unknownForm(hash, format));
  const fault = kind.faultOf(named);
  if (fault !== null) throw new Error(fault);
  return ownHash.test(named) ? named : `${mark}${today}:${named}`;
}

function unknownForm(hash: string, format: string | undefined): string {
  if (format !== undefined)
    return `The format ${format} does not fit this hash, or is none of better-auth and scrypt:N:r:p.`;
  if (/^[0-9a-f]+:[0-9a-f]+$/i.test(hash))
    return 'A hash of the form salt:key needs a format: better-auth or scrypt:N:r:p.';
  return 'This form of a hash is not known.';
}

/** Returns a stored hash as an import reads it. */
export function exportedForm(stored: string): { hash: string; format?: string } {
  const hash = stored.startsWith(mark) ? bodyOf(stored) : stored;
  const [, format, pair] = /^(better-auth|scrypt:\d+:\d+:\d+):([0-9a-f]+:[0-9a-f]+)$/i.exec(hash) ?? [];
  return format === undefined || pair === undefined ? { hash } : { hash: pair, format };
}

export function isImported(stored: string): boolean {
  return stored.startsWith(mark);
}

/** Whether a password, as it was typed, matches a hash of another system. */
export async function verifyImported(stored: string, typed: string): Promise<boolean> {
  const hash = bodyOf(stored);
  const kind = kindOf(hash);
  if (kind === null) throw new Error('a stored hash of an import has no known form');
  return kind.verify(hash, typed);
}

function bodyOf(stored: string): string {
  return stored.slice(mark.length + 'YYYY-MM-DD:'.length);
}

type Kind = {
  form: RegExp;
  /** A sentence if a comparison would be too dear, or if the parameters are none. */
  faultOf: (hash: string) => string | null;
  verify: (hash: string, typed: string) => Promise<boolean>;
};

const mebibyte = 2 ** 20;

const bcrypt: Kind = {
  form: /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/,
  faultOf(hash) {
    const [cost = 0] = numbersOf(bcrypt, hash);
    return cost >= 4 && cost <= 13 ? null : 'A bcrypt hash has a cost from 4 to 13.';
  },
  // Loaded by the first comparison: a service without imported hashes needs none of it.
  async verify(hash, typed) {
    const { verify } = await import('@node-rs/bcrypt');
    return verify(typed, hash);
  },
};

const argon2: Kind = {
  form: /^\$argon2id?\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,3})\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{16,172}$/,
  faultOf(hash) {
    // The library refuses to decode a part that was cut: each sign-in would fail.
    if (!hash.split('$').slice(-2).every(isWholeBase64)) return 'The salt or the key of this hash is not whole.';
    const [memory = 0, passes = 0, lanes = 0] = numbersOf(argon2, hash);
    const isRight = passes >= 1 && lanes >= 1 && memory >= 8 * lanes;
    if (isRight && memory <= 65_536 && passes <= 3 && lanes <= 4) return null;
    return 'An argon2 hash takes at most 64 MiB, 3 passes and 4 lanes.';
  },
  verify: (hash, typed) => verifyArgon2(hash, typed),
};

/** Whether a text is base64 without padding as an encoder writes it. */
function isWholeBase64(part: string): boolean {
  return Buffer.from(part, 'base64').toString('base64').replaceAll('=', '') === part;
}

/** Of Django: the salt as it is, the key in base64. */
const django: Kind = {
  form: /^pbkdf2_sha256\$(\d{1,8})\$([^$]{1,128})\$([A-Za-z0-9+/]{43}=)$/,
  faultOf(hash) {
    const [rounds = 0] = numbersOf(django, hash);
    return rounds >= 1 && rounds <= 1_500_000 ? null : 'A hash of PBKDF2 with SHA-256 has at most 1,500,000 rounds.';
  },
  async verify(hash, typed) {
    const [, rounds, salt = '', key = ''] = django.form.exec(hash) ?? [];
    const wanted = Buffer.from(key, 'base64');
    return timingSafeEqual(wanted, await derivePbkdf2(typed, salt, Number(rounds), wanted.length, 'sha256'));
  },
};

/** Of passlib: salt and key in base64 with a dot for the plus, without padding. */
const passlib: Kind = {
  form: /^\$pbkdf2-sha512\$(\d{1,8})\$([A-Za-z0-9./]{1,171})\$([A-Za-z0-9./]{86})$/,
  faultOf(hash) {
    const [rounds = 0] = numbersOf(passlib, hash);
    return rounds >= 1 && rounds <= 500_000 ? null : 'A hash of PBKDF2 with SHA-512 has at most 500,000 rounds.';
  },
  async verify(hash, typed) {
    const [, rounds, salt = '', key = ''] = passlib.form.exec(hash) ?? [];
    const [saltBytes, wanted] = [salt, key].map((text) => Buffer.from(text.replaceAll('.', '+'), 'base64'));
    if (saltBytes === undefined || wanted === undefined) return false;
    return timingSafeEqual(wanted, await derivePbkdf2(typed, saltBytes, Number(rounds), wanted.length, 'sha512'));
  },
};

/** The text of the salt in hex is the salt itself, as better-auth has it. */
const scryptHex: Kind = {
  form: /^scrypt:(\d{1,8}):(\d{1,4}):(\d{1,4}):([0-9a-f]{2,256}):((?:[0-9a-f]{2}){16,128})$/i,
  faultOf(hash) {
    const [cost = 0, blockSize = 0, lanes = 0] = numbersOf(scryptHex, hash);
    const isPowerOfTwo = cost > 1 && Number.isInteger(Math.log2(cost));
    if (!isPowerOfTwo || blockSize < 1 || lanes < 1) return 'These are no parameters of scrypt: N is a power of two.';
    if (128 * cost * blockSize <= 64 * mebibyte && lanes <= 4) return null;
    return 'A scrypt hash takes at most 64 MiB (128 × N × r), and p is at most 4.';
  },
  async verify(hash, typed) {
    const [, cost, blockSize, lanes, salt = '', key = ''] = scryptHex.form.exec(hash) ?? [];
    const parameters = { N: Number(cost), r: Number(blockSize), p: Number(lanes), maxmem: 80 * mebibyte };
    const wanted = Buffer.from(key, 'hex');
    return timingSafeEqual(wanted, await deriveScrypt(typed, salt, wanted.length, parameters));
  },
};

/** scrypt of fixed parameters, on the NFKC form of the password. */
const betterAuth: Kind = {
  form: /^better-auth:([0-9a-f]{2,256}):((?:[0-9a-f]{2}){64})$/i,
  faultOf: () => null,
  verify: (hash, typed) =>
    scryptHex.verify(hash.replace(/^better-auth/i, 'scrypt:16384:16:1'), typed.normalize('NFKC')),
};

const kinds = [bcrypt, argon2, django, passlib, scryptHex, betterAuth];

function kindOf(hash: string): Kind | null {
  return kinds.find(({ form }) => form.test(hash)) ?? null;
}

/** The parameters of a hash, which stand first in its form. */
function numbersOf({ form }: Kind, hash: string): number[] {
  return (form.exec(hash) ?? []).slice(1).map(Number);
}

const derivePbkdf2 = promisify(pbkdf2);
const deriveScrypt = promisify<string, string, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt,
);
