import { freePort } from '@gatehouse/api/testing/free-ports';
import { newEmail, passPhrase } from '../support/people.ts';
import { type Pair, startPair } from '../support/processes/database-pair.ts';
import { type ServiceProcess, startServed } from '../support/processes/served.ts';
import { expect, test } from '../support/service.ts';

test.skip(process.platform !== 'linux', 'It finds the processes to kill in /proc.');

let pair: Pair;
let served: ServiceProcess;
const ends: (() => Promise<unknown>)[] = [];

test.beforeAll(async () => {
  pair = await startPair();
  ends.push(pair.stop);
  served = await startServed(await freePort(), { DATABASE_URL: pair.url });
  ends.push(served.stop);
});
test.afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

test('when the primary is killed during sign-ups, the standby takes over and has every answered sign-up', async () => {
  const answered: string[] = [];
  const failures: { status: number; retryAfter: string | null; body: unknown }[] = [];
  let streaming = true;
  const streams = Array.from({ length: 4 }, async () => {
    while (streaming) await signUp();
  });

  async function signUp(): Promise<void> {
    const email = newEmail('stream');
    const answer = await post('/api/signup', { email, password: passPhrase, org_name: 'Stream' });
    if (answer.status === 200) answered.push(email);
    else {
      const retryAfter = answer.headers.get('retry-after');
      failures.push({ status: answer.status, retryAfter, body: await answer.json() });
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  await expect.poll(() => answered.length).toBeGreaterThan(20);
  pair.killPrimary();
  await expect.poll(() => failures.length).toBeGreaterThan(3);
  expect((await fetch(`http://127.0.0.1:${served.port}/readyz`)).status).toBe(503);
  const before = answered.length;

  const standby = await pair.promoteStandby();
  ends.push(standby.close);
  await expect.poll(() => answered.length).toBeGreaterThan(before + 10);
  streaming = false;
  await Promise.all(streams);
  expect((await fetch(`http://127.0.0.1:${served.port}/readyz`)).status).toBe(200);

  const found = await standby.sql`select email from users where email = any(${answered})`;
  expect(found).toHaveLength(answered.length);
  for (const { status, retryAfter, body } of failures) {
    expect(status, JSON.stringify(body)).toBe(503);
    expect(Number(retryAfter)).toBeGreaterThan(0);
    expect(body).toMatchObject({ code: 'BUSY', error: expect.stringMatching(/^\S.*\.$/) });
  }
});

function post(where: string, body: object): Promise<Response> {
  return fetch(`http://127.0.0.1:${served.port}${where}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}
