import { expect, it } from 'vitest';
import { hashPassword, passwordFault, verifyPassword } from './password.ts';

const client = { address: '192.0.2.1' };
const resembling = ['person@company.example', 'Front Desk'];

it.each([
  ['seven77', /at least 8/],
  ['ﬀﬀﬀ', /at least 8/],
  ['ﬀﬀﬀﬀ', null],
  ['👩‍🚀👩‍🚀👩‍🚀', null],
  ['a'.repeat(256), null],
  ['a'.repeat(257), /at most 256/],
  ['Password123', /common/],
  ['ｐａｓｓｗｏｒｄ１２３', /common/],
  ['Person@Company.example', /must not be/],
  ['front desk', /must not be/],
  ['  spaces are kept  ', null],
  ['nul\u0000inside it', /cannot be kept/],
])('judges %j', (password, fault) => {
  const found = passwordFault(password, resembling);
  if (fault === null) expect(found).toBeNull();
  else expect(found).toMatch(fault);
});

it('compares in NFKC, and never trims', async () => {
  const hashed = await hashPassword('Ångström café ﬁne', client);
  expect(await verifyPassword(hashed, 'Ångström café fine', client)).toBe(true);
  expect(await verifyPassword(hashed, ' Ångström café fine', client)).toBe(false);
});

it('is never right where there is no password', async () => {
  expect(await verifyPassword(null, 'no account has this password', client)).toBe(false);
});

it('hashes with argon2id, 19 MiB and two passes', async () => {
  expect(await hashPassword('a long enough pass phrase', client)).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
});
