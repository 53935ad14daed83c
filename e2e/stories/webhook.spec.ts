import { createHmac } from 'node:crypto';
import fs from 'node:fs';
import { freePort } from '@gatehouse/api/testing/free-ports';
import { openEmbedded } from '@gatehouse/embedded-postgres/embedded-postgres';
import { makeDataDirectory } from '../support/processes/data-directory.ts';
import { startServed } from '../support/processes/served.ts';
import { send } from '../support/raw-request.ts';
import { expect, type Service, sandboxSecrets, test } from '../support/service.ts';

const secret = sandboxSecrets.PAYMENT_WEBHOOK_SECRET;
type Signed = { 'payment-signature'?: 'valid' | 'invalid'; 'stripe-signature'?: 'valid' | 'invalid' };

let sent = 0;

/** Sends a delivery with each named header signed with the right or another secret. */
function deliver(service: Pick<Service, 'baseUrl'>, signed: Signed) {
  const event = { id: `evt_by_hand_${++sent}`, object: 'event', type: 'something.new', created: seconds() };
  const body = JSON.stringify({ ...event, livemode: false, data: { object: {} } });
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  for (const [name, how] of Object.entries(signed)) headers[name] = signature(body, how === 'valid');
  return send(service as Service, '/webhooks/payment', { method: 'POST', headers, body });
}

function signature(body: string, right: boolean): string {
  const time = seconds();
  const key = right ? secret : 'another secret';
  return `t=${time},v1=${createHmac('sha256', key).update(`${time}.${body}`).digest('hex')}`;
}

const seconds = () => Math.floor(Date.now() / 1000);

for (const headers of [
  { 'payment-signature': 'valid' },
  { 'stripe-signature': 'valid' },
  { 'payment-signature': 'valid', 'stripe-signature': 'invalid' },
] satisfies Signed[] as Signed[]) {
  test(`a delivery with ${JSON.stringify(headers)} is accepted`, async ({ service }) => {
    const { status, text } = await deliver(service, headers);
    expect([status, JSON.parse(text)]).toEqual([200, { received: true, handled: false }]);
  });
}

for (const headers of [
  {},
  { 'payment-signature': 'invalid' },
  { 'stripe-signature': 'invalid' },
  { 'payment-signature': 'invalid', 'stripe-signature': 'valid' },
] satisfies Signed[] as Signed[]) {
  test(`a delivery with ${JSON.stringify(headers)} gets 400`, async ({ service }) => {
    const { status, text } = await deliver(service, headers);
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ error: expect.stringMatching(/signature|header/i), code: 'VALIDATION' });
  });
}

test('an event that cannot be applied gets 500 with the exact sentence, so that the provider retries it', async () => {
  const folder = makeDataDirectory();
  const database = await openEmbedded(folder);
  const port = await freePort();
  const baseUrl = `http://localhost:${port}`;
  const environment = { DATABASE_URL: database.url, PUBLIC_BASE_URL: baseUrl, PAYMENT_WEBHOOK_SECRET: secret };
  const served = await startServed(port, environment);
  expect((await deliver({ baseUrl }, { 'payment-signature': 'valid' })).status).toBe(200);

  await database.stop();
  const { status, text } = await deliver({ baseUrl }, { 'payment-signature': 'valid' });
  expect([status, JSON.parse(text)]).toEqual([500, { error: 'Could not process the event.', code: 'INTERNAL' }]);

  await served.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});
