import { afterAll, beforeAll, expect, it } from 'vitest';
import { createBreachedPasswords } from '../../platform/providers/breached-passwords.ts';
import { normalisePassword } from '../../platform/security/password-rules.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { callerFor, makeOwner, newEmail, testPassword } from '../../testing/factories.ts';
import { requireNewPassword } from './require-new-password.ts';

const breached = 'a breached pass phrase';
const refusal = { cause: { code: 'VALIDATION', fields: { password: expect.stringContaining('data breach') } } };

let test: TestApp;
let app: TestApp['app'];
beforeAll(async () => {
  test = await startTestApp();
  const url = `${test.sandbox.url}/breached-passwords/range`;
  app = Object.assign(test.app, { isBreached: createBreachedPasswords({ url, timeoutSeconds: 2 }) });
});
afterAll(() => test.close());

it('a breached password is refused at sign-up and as a new password', async () => {
  const sign = (password: string) => callerFor(test, null).accounts.signUp({ email: newEmail(), password });
  await expect(sign(breached)).rejects.toMatchObject(refusal);
  expect(await sign('not a breached pass phrase')).toMatchObject({ pending: true });
  const { api } = await makeOwner(test);
  const change = { current_password: testPassword, password: breached };
  await expect(api.accounts.changePassword(change)).rejects.toMatchObject(refusal);
});

it('only the beginning of a hash is sent', async () => {
  const asked: string[] = [];
  const fetched = globalThis.fetch;
  globalThis.fetch = (url, init) => {
    asked.push(String(url));
    return fetched(url, init);
  };
  try {
    await requireNewPassword(app, normalisePassword('not a breached pass phrase'), newEmail());
  } finally {
    globalThis.fetch = fetched;
  }
  expect(asked).toEqual([expect.stringMatching(/\/range\/[0-9A-F]{5}$/)]);
});

it('a service that is away, too slow or answers nonsense refuses nobody', async () => {
  const taken = () => requireNewPassword(app, normalisePassword(breached), newEmail());
  test.sandbox.breachedPasswords.setAway(true);
  await expect(taken()).resolves.toBeUndefined();
  test.sandbox.breachedPasswords.setAway(false);
  await expect(taken()).rejects.toMatchObject({ code: 'VALIDATION' });
  app.isBreached = createBreachedPasswords({ url: 'http://127.0.0.1:9/range', timeoutSeconds: 2 });
  await expect(taken()).resolves.toBeUndefined();
  app.isBreached = createBreachedPasswords({ url: `${test.sandbox.url}/idp`, timeoutSeconds: 2 });
  await expect(taken()).resolves.toBeUndefined();
  expect(test.logged.filter(({ level }) => level === 'warn').length).toBeGreaterThanOrEqual(3);
});
