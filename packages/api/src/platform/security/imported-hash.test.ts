import { hash as argon2 } from '@node-rs/argon2';
import { hash as bcrypt } from '@node-rs/bcrypt';
import { expect, it } from 'vitest';
import { exportedForm, storedForm, verifyImported } from './imported-hash.ts';
import { hashPassword, verifyPassword } from './password.ts';
import { normalisePassword } from './password-rules.ts';

const today = '2026-11-27';
const client = { address: '192.0.2.1' };
const typed = 'pass phrase é';
const salt = '00112233445566778899aabbccddeeff';

// Made by Python's hashlib and crypt, not by the code that compares.
const foreign: [name: string, hash: string, format?: string][] = [
  ['Django', 'pbkdf2_sha256$1000$seasalt2$d1ZL7Gf7rxVSNgunnPUWMC1AH9JVWCgqgk8m9lxLqwY='],
  [
    'passlib',
    '$pbkdf2-sha512$1000$AAECAwQFBgcICQoLDA0ODw$yQyaL.00PDIXDiVYu8iVKFk4A3ctAm2KKSIIdbMs5YD/3gR5RdbmmliDJ44bkvRNlLeRwli2OS.3Rn8Wm80W.A',
  ],
  [
    'better-auth',
    `${salt}:51e828d227469ba36665dfe017bb09fcb50c3a3667c6c33edb060ff3b2dc4440ba40c593e4df2849556ac62030bb7b20407e440a64c3f0eb21896708781be662`,
    'better-auth',
  ],
  ['scrypt', `${salt}:590122d7979142682fcee07bc983b03fe6bebdfd79231516e384382f42d189f7`, 'scrypt:1024:8:2'],
  ['bcrypt 2b', '$2b$05$abcdefghijklmnopqrstuuVOFKqCVLDuGlQCeJza3EicKp0N6sqQa'],
  ['bcrypt 2a', '$2a$05$abcdefghijklmnopqrstuuVOFKqCVLDuGlQCeJza3EicKp0N6sqQa'],
  ['bcrypt 2y', '$2y$05$abcdefghijklmnopqrstuuVOFKqCVLDuGlQCeJza3EicKp0N6sqQa'],
];

it.each(foreign)('compares a password with a hash of %s', async (_name, hash, format) => {
  const stored = storedForm({ hash, format }, today);
  expect(stored).toMatch(/^imported:2026-11-27:/);
  expect(await verifyPassword(stored, typed, client)).toBe(true);
  expect(await verifyPassword(stored, `${typed} `, client)).toBe(false);
  expect(exportedForm(stored)).toEqual(format === undefined ? { hash } : { hash, format });
});

it.each([0, 1, 2] as const)('compares a password with argon2 of variant %i, but for 2d', async (algorithm) => {
  const hash = await argon2(typed, { algorithm, memoryCost: 64, timeCost: 3, parallelism: 2 });
  if (algorithm === 0) return expect(() => storedForm({ hash }, today)).toThrow('not known');
  const stored = storedForm({ hash }, today);
  expect(await verifyImported(stored, typed)).toBe(true);
  expect(await verifyImported(stored, 'another')).toBe(false);
});

it('takes a password as it was typed, and in NFKC for better-auth and for hashes of our own', async () => {
  const composed = '\ufb01ne caf\u00e9';
  const decomposed = 'fine cafe\u0301';
  const stored = storedForm({ hash: await bcrypt(composed, { cost: 4 }) }, today);
  expect(await verifyPassword(stored, composed, client)).toBe(true);
  expect(await verifyPassword(stored, decomposed, client)).toBe(false);
  const [, hash = '', format] = foreign[2] ?? [];
  expect(await verifyPassword(storedForm({ hash, format }, today), 'pass phrase e\u0301', client)).toBe(true);

  const own = await hashPassword(normalisePassword(composed), client);
  expect(storedForm({ hash: own }, today)).toBe(own);
  expect(exportedForm(own)).toEqual({ hash: own });
  expect(await verifyPassword(own, decomposed, client)).toBe(true);
});

const bcryptOf = (cost: string) => `$2b$${cost}$abcdefghijklmnopqrstuuVOFKqCVLDuGlQCeJza3EicKp0N6sqQa`;
const argon2Of = (parameters: string) => `$argon2id$v=19$${parameters}$c2FsdHNhbHRzYWx0$${'A'.repeat(43)}`;
const djangoOf = (rounds: number) => `pbkdf2_sha256$${rounds}$salt$${'A'.repeat(43)}=`;
const passlibOf = (rounds: number) => `$pbkdf2-sha512$${rounds}$AAEC$${'A'.repeat(86)}`;
const scryptOf = (parameters: string) => [`${salt}:${'ab'.repeat(32)}`, `scrypt:${parameters}`] as const;

it.each<readonly [hash: string, format?: string]>([
  [bcryptOf('13')],
  [argon2Of('m=65536,t=3,p=4')],
  [djangoOf(1_500_000)],
  [passlibOf(500_000)],
  scryptOf('65536:8:4'),
  scryptOf('32768:16:1'),
])('takes %s %s, the dearest of its kind', (hash = '', format) => {
  expect(storedForm({ hash, format }, today)).toContain(hash);
});

it.each<readonly [hash: string, format?: string]>([
  [bcryptOf('14')],
  [bcryptOf('03')],
  [argon2Of('m=65537,t=3,p=4')],
  [argon2Of('m=65536,t=4,p=4')],
  [argon2Of('m=65536,t=3,p=5')],
  [argon2Of('m=8,t=1,p=4')],
  // Parts that were cut, or end in bits that no encoder writes.
  [argon2Of('m=64,t=1,p=1').replace('c2FsdHNhbHRzYWx0', 'A'.repeat(13))],
  [argon2Of('m=64,t=1,p=1').replace(/A$/, 'B')],
  [djangoOf(1_500_001)],
  [djangoOf(0)],
  [passlibOf(500_001)],
  scryptOf('131072:8:1'),
  scryptOf('16384:16:5'),
  scryptOf('1000:8:1'),
  scryptOf('1:8:1'),
  scryptOf('16384:0:1'),
  [`${salt}:${'ab'.repeat(64)}`],
  [`${salt}:${'ab'.repeat(64)}`, 'firebase'],
  [bcryptOf('10'), 'better-auth'],
  ['5f4dcc3b5aa765d61d8327deb882cf99'],
  ['$argon2d$v=19$m=64,t=1,p=1$c2FsdHNhbHRzYWx0$AAAAAAAAAAAAAAAAAAAAAA'],
  [''],
])('refuses %s %s with a sentence', (hash = '', format) => {
  expect(() => storedForm({ hash, format }, today)).toThrow(/^[A-Z].+\.$/);
});
