import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { users } from '../db/schema.ts';
import { signInWithPassword } from '../sign-in/with-password.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { callerFor, makeOwner, makeSignUp, newEmail, testClient, testPassword, tokenIn } from '../testing/makers.ts';
import { verifyEmail } from './verify-email.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

/** A GET that carries no cookie, as a mail scanner sends it. */
function scan(token: string) {
  return verifyEmail(test.app, { token, browserToken: null }, testClient);
}

it('makes no password valid when a mail scanner opens the link of a sign-up', async () => {
  const { email, token } = await makeSignUp(test);
  expect(await scan(token)).toMatchObject({ ok: true });
  await expect(signInWithPassword(test.app, { email, password: testPassword }, testClient)).rejects.toMatchObject({
    code: 'UNAUTHENTICATED',
  });
});

it('changes no address when a mail scanner opens the link of a change', async () => {
  const owner = await makeOwner(test);
  const email = newEmail();
  await owner.api.accounts.changeAddress({ email, password: testPassword });
  expect(await scan(tokenIn((await test.sandbox.mailbox.waitFor(email)).text))).toMatchObject({ ok: true });
  const [user] = await test.app.db.select().from(users).where(eq(users.id, owner.userId));
  expect(user?.email).toBe(owner.email);
});

it('mails a link to a verified account that asks for one', async () => {
  const { email } = await makeOwner(test);
  const [before] = test.sandbox.mailbox.messages(email);
  test.advance(61_000);
  await callerFor(test, null).accounts.resend({ email });
  await test.sandbox.mailbox.waitFor(email, before);
});
