import { createHmac } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openEmbedded } from '@gatehouse/embedded-postgres/embedded-postgres';
import { freePort } from '../support/free-port.ts';
import { send } from '../support/raw-request.ts';
import { startServed } from '../support/served.ts';
import { expect, type Service, sandboxSecrets, test } from '../support/service.ts';

const secret = sandboxSecrets.PAYMENT_WEBHOOK_SECRET;
type Signed = { 'payment-signature'?: 'rightly' | 'wrongly'; 'stripe-signature'?: 'rightly' | 'wrongly' };

let sent = 0;

/** A delivery as the payment provider signs it: by each header name given, rightly or wrongly. */
function deliver(service: Pick<Service, 'baseUrl'>, signed: Signed) {
  const event = { id: `evt_by_hand_${++sent}`, object: 'event', type: 'something.new', created: seconds() };
  const body = JSON.stringify({ ...event, livemode: false, data: { object: {} } });
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  for (const [name, how] of Object.entries(signed)) headers[name] = signature(body, how === 'rightly');
  return send(service as Service, '/webhooks/payment', { method: 'POST', headers, body });
}

function signature(body: string, right: boolean): string {
  const time = seconds();
  const key = right ? secret : 'another secret';
  return `t=${time},v1=${createHmac('sha256', key).update(`${time}.${body}`).digest('hex')}`;
}

const seconds = () => Math.floor(Date.now() / 1000);

for (const headers of [
  { 'payment-signature': 'rightly' },
  { 'stripe-signature': 'rightly' },
  { 'payment-signature': 'rightly', 'stripe-signature': 'wrongly' },
] satisfies Signed[] as Signed[]) {
  test(`a delivery with ${JSON.stringify(headers)} is accepted`, async ({ service }) => {
    const { status, text } = await deliver(service, headers);
    expect([status, JSON.parse(text)]).toEqual([200, { received: true, handled: false }]);
  });
}

for (const headers of [
  {},
  { 'payment-signature': 'wrongly' },
  { 'stripe-signature': 'wrongly' },
  { 'payment-signature': 'wrongly', 'stripe-signature': 'rightly' },
] satisfies Signed[] as Signed[]) {
  test(`a delivery with ${JSON.stringify(headers)} is a 400 with a sentence`, async ({ service }) => {
    const { status, text } = await deliver(service, headers);
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ error: expect.stringMatching(/signature|header/i), code: 'VALIDATION' });
  });
}

test('what cannot be applied is a 500 with the exact sentence, so that the provider tries again', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-webhook-'));
  const database = await openEmbedded(folder);
  const port = await freePort();
  const baseUrl = `http://localhost:${port}`;
  const environment = { DATABASE_URL: database.url, PUBLIC_BASE_URL: baseUrl, PAYMENT_WEBHOOK_SECRET: secret };
  const served = await startServed(port, environment);
  expect((await deliver({ baseUrl }, { 'payment-signature': 'rightly' })).status).toBe(200);

  await database.stop();
  const { status, text } = await deliver({ baseUrl }, { 'payment-signature': 'rightly' });
  expect([status, JSON.parse(text)]).toEqual([500, { error: 'Could not process the event.', code: 'INTERNAL' }]);

  await served.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});
