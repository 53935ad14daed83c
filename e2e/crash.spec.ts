import { linkFor, makeOwner, newEmail, passPhrase } from './people.ts';
import { expect, startService, test } from './service.ts';

test('what was answered before a kill -9 is there afterwards, and a mail that was owed leaves', async ({
  playwright,
}) => {
  test.setTimeout(240_000);
  test.skip(process.platform !== 'linux', 'It finds the processes to kill in /proc.');
  const service = await startService();
  const request = await playwright.request.newContext({ baseURL: service.baseUrl });
  const owner = await makeOwner(service, request);

  const email = newEmail('crash');
  const signedUp = await request.post('/api/signup', { data: { email, password: passPhrase, org_name: 'Crash' } });
  expect(signedUp.status()).toBe(200);
  await service.crash();

  expect((await request.post('/api/login', { data: { email: owner, password: passPhrase } })).status()).toBe(200);
  expect((await request.get(await linkFor(service, email, { patienceSeconds: 60 }))).status()).toBe(200);
  expect((await request.post('/api/login', { data: { email, password: passPhrase } })).status()).toBe(200);
  await service.stop();
});
