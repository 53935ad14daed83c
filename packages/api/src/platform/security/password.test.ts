import { expect, it } from 'vitest';
import { type Message, readZodMessage, sentenceIn } from '../messages.ts';
import { hashPassword, verifyPassword } from './password.ts';
import { newPasswordField, normalisePassword, passwordFault } from './password-rules.ts';

const client = { address: '192.0.2.1' };
const forbidden = ['jane.doe+news@front-desk.company.example', 'Front Desk'];

it.each([
  ['seven77', /at least 8/],
  ['ﬀﬀﬀ', /at least 8/],
  ['ﬀﬀﬀﬀ', null],
  ['👩‍🚀👩‍🚀👩‍🚀', null],
  ['a'.repeat(256), null],
  ['a'.repeat(257), /at most 256/],
  ['Password123', /common/],
  ['ｐａｓｓｗｏｒｄ１２３', /common/],
  ['00000000', /common/],
  ['Summer2026', /common/],
  ['Jane.Doe+News@Front-Desk.Company.example', /must not be/],
  ['jane.doe', /must not be/],
  ['JaneDoe1985', /must not be/],
  ['1985 jane doe', /must not be/],
  ['ｊａｎｅ.ｄｏｅ', /must not be/],
  ['doe19850101', /must not be/],
  ['company2026', /must not be/],
  ['company.example', /must not be/],
  ['front desk', /must not be/],
  ['FrontDesk2026', /must not be/],
  ['jane likes her front desk', null],
  ['company-of-wolves', null],
  ['83749201', null],
  ['  spaces are kept  ', null],
  ['nul\u0000inside it', /can’t store/],
])('checks %j', async (password, fault) => {
  const form = newPasswordField.safeParse(password);
  const found = form.success
    ? await passwordFault(form.data, forbidden)
    : (readZodMessage(form.error.issues[0]?.message ?? '') as Message);
  if (fault === null) expect(found).toBeNull();
  else expect(found && sentenceIn('en', found)).toMatch(fault);
});

it.each([
  ['büropost', ['a@büropost.example']],
  ['büropost1', ['a@xn--bropost-n2a.example']],
  ['48151630', ['48151630@company.example']],
])('refuses %j for %j', async (password, words) => {
  expect(await passwordFault(normalisePassword(password), words)).toMatchObject({ id: 'password_like_address' });
});

it('refuses more than 3,000 common passwords of the allowed length, in any case and width', async () => {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  const long = dictionary['passwords-common'].filter((password) => [...password].length >= 8);
  expect(long.length).toBeGreaterThan(3000);
  for (const password of long.slice(0, 3000)) {
    const wide = password.replace(/[!-~]/g, (sign) => String.fromCodePoint((sign.codePointAt(0) ?? 0) + 0xfee0));
    for (const form of [password, password.toUpperCase(), wide])
      expect(await passwordFault(normalisePassword(form), [])).toMatchObject({ id: 'password_common' });
  }
});

it('accepts eight code points in a request body, before the list of common passwords is loaded', () => {
  expect(newPasswordField.safeParse('password').success).toBe(true);
  expect(newPasswordField.safeParse('passwor').success).toBe(false);
});

it('compares in NFKC, and never trims', async () => {
  const hashed = await hashPassword(newPasswordField.parse('Ångström café ﬁne'), client);
  expect(await verifyPassword(hashed, 'Ångström café fine', client)).toBe(true);
  expect(await verifyPassword(hashed, ' Ångström café fine', client)).toBe(false);
});

it('matches no password if the account has none', async () => {
  expect(await verifyPassword(null, 'no account has this password', client)).toBe(false);
});

it('hashes with argon2id, 19 MiB and two passes', async () => {
  expect(await hashPassword(normalisePassword('a long enough pass phrase'), client)).toMatch(
    /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/,
  );
});
