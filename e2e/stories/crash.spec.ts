import type { APIRequestContext } from '@playwright/test';
import { linkFor, makeOwner, newEmail, passPhrase } from '../support/people.ts';
import { expect, type Part, type Service, startService, test } from '../support/service.ts';

const parts: Part[] = ['database', 'service', 'toolchain', 'everything'];
const atOnce = 10;

test('after kill -9 of any process, every answered sign-up is stored and its mail is sent', async ({ playwright }) => {
  test.skip(process.platform !== 'linux', 'It finds the processes to kill in /proc.');
  const service = await startService();
  const request = await playwright.request.newContext({ baseURL: service.baseUrl });
  const owner = await makeOwner(service, request);
  expect(await signIn(request, owner)).toBe(200);

  const answered: SignedUp[] = [];
  for (const part of parts) {
    await test.step(`${part}, in a burst of sign-ups`, async () => {
      answered.push(...(await signUpsUntilKilled(request, service, part)));
      await expect.poll(async () => (await request.get('/api/session')).status()).toBe(200);
    });
  }

  await Promise.all(
    answered.map(async ({ email, cookie }) => {
      const link = await linkFor(service, email, { timeoutSeconds: 60 });
      expect((await fetch(link, { headers: { cookie } })).status, email).toBe(200);
    }),
  );
  const theirs = await playwright.request.newContext({ baseURL: service.baseUrl });
  for (const { email } of answered) expect(await signIn(theirs, email), email).toBe(200);
  await service.stop();
});

/** An account, and the cookie of the browser that signed up. */
type SignedUp = { email: string; cookie: string };

/** Kills the part once two sign-ups are answered. Returns all sign-ups that were answered, also later ones. */
async function signUpsUntilKilled(request: APIRequestContext, service: Service, part: Part): Promise<SignedUp[]> {
  const answered: SignedUp[] = [];
  let killed: Promise<void> | undefined;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      const data = { email: newEmail(part), password: passPhrase, org_name: 'Crash' };
      const answer = await request.post('/api/signup', { data }).catch(() => null);
      if (answer?.status() !== 200) return;

      const [cookie = ''] = (answer.headers()['set-cookie'] ?? '').split(';');
      answered.push({ email: data.email, cookie });
      if (answered.length === 2) killed = service.crash(part);
    }),
  );
  await killed;
  expect(answered.length).toBeGreaterThanOrEqual(2);
  return answered;
}

async function signIn(request: APIRequestContext, email: string): Promise<number> {
  return (await request.post('/api/login', { data: { email, password: passPhrase } })).status();
}
