import { afterAll, beforeAll, expect, it } from 'vitest';
import { users, verificationLinks } from '../../platform/db/schema/accounts.ts';
import { message } from '../../platform/messages.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import {
  callerFor,
  makeOwner,
  newEmail,
  testClient,
  testPassword,
  tokenIn,
  wantAddress,
} from '../../testing/factories.ts';
import { readSession, startSession } from '../sessions/session.ts';
import { sendVerification } from './send-verification.ts';
import { verifyEmail } from './verify-email.ts';

let test: TestApp;

beforeAll(async () => {
  test = await startTestApp();
});

afterAll(() => test.close());

it('a link for a change of address expires after an hour', async () => {
  const late = await startTestApp();
  const owner = await makeOwner(late);
  const email = newEmail();
  await callerFor(late, owner.principal).accounts.changeAddress({ email, password: testPassword });
  const token = tokenIn((await late.sandbox.mailbox.waitFor(email)).text);
  late.advance(3_601_000);
  const outcome = await verifyEmail(late.app, { token, browserToken: null }, testClient);
  expect(outcome).toMatchObject({ ok: false, text: message('link_expired') });
  await late.close();
});

it('mails a new address at most once a minute, and at most five mails an hour for one user', async () => {
  const limited = await startTestApp({ environment: { RATE_LIMITS: 'on' }, work: false });
  const now = limited.app.now();
  const userId = crypto.randomUUID();
  await limited.app.db.insert(users).values({ id: userId, email: newEmail(), emailVerifiedAt: now, createdAt: now });
  const session = { userId, organisationId: null, client: testClient };
  const principal = await readSession(limited.app, await startSession(limited.app, session));
  const sessionId = principal?.sessionId ?? '';
  const send = async (email: string) => {
    await wantAddress(limited, { userId, email });
    await sendVerification(limited.app, { email, userId, sessionId });
  };
  const count = async () => (await limited.app.db.select().from(verificationLinks)).length;

  const email = newEmail();
  await send(email);
  await send(email);
  expect(await count()).toBe(1);
  limited.advance(61_000);
  await send(email);
  expect(await count()).toBe(2);
  for (let mail = 0; mail < 5; mail++) await send(newEmail());
  expect(await count()).toBe(5);
  await limited.close();
});
