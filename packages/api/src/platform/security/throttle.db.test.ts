import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { callerFor, makeOwner, newEmail, testPassword } from '../../testing/factories.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp({ environment: { RATE_LIMITS: 'on' } });
});
afterAll(() => test.close());

const tooMany = { code: 'TOO_MANY_REQUESTS' };
let clients = 0;

/** A client that has not counted in any limit. */
function newClient(): string {
  clients += 1;
  return `192.0.2.${clients}`;
}

function signIn(email: string, { password = 'not the pass phrase', client = newClient() } = {}) {
  return callerFor(test, null, { client }).signIn.withPassword({ email, password });
}

async function codesOf(attempts: Promise<unknown>[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const ended of await Promise.allSettled(attempts)) {
    const code = ended.status === 'fulfilled' ? 'OK' : ended.reason.code;
    counts[code] = (counts[code] ?? 0) + 1;
  }
  return counts;
}

it('allows ten failures of one client for one address, also in parallel', async () => {
  const client = newClient();
  const email = newEmail();
  const attempts = Array.from({ length: 30 }, () => signIn(email, { client }));
  expect(await codesOf(attempts)).toEqual({ UNAUTHORIZED: 10, TOO_MANY_REQUESTS: 20 });
});

it('counts known and unknown addresses alike', async () => {
  const { email } = await makeOwner(test);
  for (const address of [email, newEmail()]) {
    const client = newClient();
    const attempts = Array.from({ length: 12 }, () => signIn(address, { client }));
    expect(await codesOf(attempts)).toEqual({ UNAUTHORIZED: 10, TOO_MANY_REQUESTS: 2 });
  }
});

it('does not limit other clients that sign in to the same address', async () => {
  const { email } = await makeOwner(test);
  const client = newClient();
  await codesOf(Array.from({ length: 150 }, () => signIn(email, { client })));
  await expect(signIn(email, { client, password: testPassword })).rejects.toMatchObject(tooMany);
  expect(await signIn(email, { password: testPassword })).toEqual({ ok: true });
});

it('does not count successful sign-ins', async () => {
  const { email } = await makeOwner(test);
  const client = newClient();
  for (let i = 0; i < 15; i++) expect(await signIn(email, { client, password: testPassword })).toEqual({ ok: true });
});

it('allows sixty failures of one client over all addresses', async () => {
  const client = newClient();
  const attempts = Array.from({ length: 70 }, () => signIn(newEmail(), { client }));
  expect(await codesOf(attempts)).toEqual({ UNAUTHORIZED: 60, TOO_MANY_REQUESTS: 10 });
});

it('returns the seconds to wait', async () => {
  const client = newClient();
  await codesOf(Array.from({ length: 21 }, () => callerFor(test, null, { client }).accounts.resend({ email: 'x' })));
  await expect(callerFor(test, null, { client }).accounts.resend({ email: newEmail() })).rejects.toMatchObject({
    ...tooMany,
    cause: { code: 'TOO_MANY', retryAfterSeconds: expect.any(Number) },
  });
});

it('counts sign-ups and resends separately, and invalid requests too', async () => {
  const client = newClient();
  const { accounts } = callerFor(test, null, { client });
  expect(await codesOf(Array.from({ length: 25 }, () => accounts.resend({ email: 'nobody' })))).toEqual({
    BAD_REQUEST: 20,
    TOO_MANY_REQUESTS: 5,
  });
  expect(await accounts.signUp({ email: newEmail(), password: testPassword })).toMatchObject({ pending: true });
});

it('counts an IPv6 /64 as one client', async () => {
  const attempts = Array.from({ length: 25 }, (_, i) =>
    callerFor(test, null, { client: `2001:db8:1:2::${i}` }).accounts.resend({ email: 'nobody' }),
  );
  expect(await codesOf(attempts)).toEqual({ BAD_REQUEST: 20, TOO_MANY_REQUESTS: 5 });
});
