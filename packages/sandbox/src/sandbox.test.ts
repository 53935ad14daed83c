import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sdk } from '@gatehouse/payment-sandbox/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sandbox } from './sandbox.ts';
import { startTestSandbox } from './testing.ts';

let dataDir: string;
let sandbox: Sandbox;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'sandbox-'));
  sandbox = await startTestSandbox({ dataDir });
});
afterAll(async () => {
  await sandbox.close();
  await rm(dataDir, { recursive: true });
});

test('the start page links to each part and lists the demo accounts with escaped notes', async () => {
  const accounts = [{ email: 'demo@example.test', password: 'demo-password', note: 'an <owner>' }];
  await writeFile(join(dataDir, 'demo-accounts.json'), JSON.stringify(accounts));
  const page = await (await fetch(sandbox.url)).text();
  for (const part of ['/mailbox', '/idp', '/control', 'http://localhost:3000', 'demo-password', 'an &#60;owner&#62;']) {
    expect(page).toContain(part);
  }
});

test('requests for another host name and cross-site forms get 403', async () => {
  const { port } = new URL(sandbox.url);
  expect(await rawStatus(Number(port), `GET / HTTP/1.1\r\nHost: evil.example:${port}\r\n`)).toBe(403);
  expect(await rawStatus(Number(port), `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`)).toBe(200);
  const foreign = { method: 'POST', headers: { 'sec-fetch-site': 'cross-site' } };
  expect((await fetch(`${sandbox.url}/control/reset`, foreign)).status).toBe(403);
});

test('a JSON request to the controls gets a JSON answer, which names a wrong member', async () => {
  const control = async (path: string, body?: object) => {
    const response = await fetch(`${sandbox.url}/control/${path}`, {
      ...(body && { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  expect((await control('switches', { duplicate_deliveries: true })).body).toMatchObject({
    duplicate_deliveries: true,
  });
  expect(await control('switches', { api_delay_ms: 'long' })).toMatchObject({
    status: 400,
    body: { error: 'The switch api_delay_ms cannot be "long".' },
  });
  expect(await control('switches', { constructor: 1 })).toMatchObject({ status: 400 });
  expect((await control('switches/reset', {})).body).toMatchObject({ duplicate_deliveries: false });
  const { now } = (await control('clock')).body as { now: number };
  expect((await control('clock', { days: 2 })).body.now).toBeGreaterThanOrEqual(now + 2 * 86_400);
  expect(await control('clock', { to: now })).toMatchObject({
    status: 400,
    body: { error: 'The clock goes forward only.' },
  });
  expect(await control('deliveries/resend', { id: 'dlv_none' })).toMatchObject({ status: 400 });
  expect(
    (await control('emit', { type: 'charge.refunded', object: { id: 'ch_1', object: 'charge' } })).body,
  ).toMatchObject({ type: 'charge.refunded' });
  expect((await fetch(`${sandbox.url}/control`)).status).toBe(200);
});

test('the form of the control page sends every switch, and unchanged it changes none', async () => {
  sandbox.payment.set({ same_second: true, api_failure: 503, api_failure_count: 0, dunning_end: 'unpaid' });
  const before = { ...sandbox.payment.switches() };
  const page = await (await fetch(`${sandbox.url}/control`)).text();
  const form = new URLSearchParams();
  for (const [, name = ''] of page.matchAll(/<input type="checkbox" name="(\w+)" value="true" checked/g))
    form.set(name, 'true');
  for (const [, name = '', value = ''] of page.matchAll(
    /<input id="\w+" name="(\w+)"(?: inputmode="numeric")? value="([^"]*)"/g,
  ))
    form.set(name, value);
  for (const [, name = '', options = ''] of page.matchAll(/<select id="\w+" name="(\w+)">(.*?)<\/select>/gs)) {
    form.set(name, /value="([^"]*)" selected/.exec(options)?.[1] ?? '');
  }
  await fetch(`${sandbox.url}/control/switches`, { method: 'POST', body: form });
  expect(sandbox.payment.switches()).toEqual(before);
  sandbox.payment.resetSwitches();
});

test('no request ends the process or gets an answer of 500 or above', async () => {
  const paths = [
    '/',
    '/mailbox',
    '/mailbox/x/html',
    '/mailbox/fault',
    '/idp',
    '/idp/answer',
    '/idp/people',
    '/idp/interaction/x',
    '/idp/auth',
    '/idp/token',
    '/pay/checkout/x',
    '/pay/portal/x',
    '/pay/invoice/x',
    '/pay/constructor/x',
    '/control',
    '/control/clock',
    '/control/switches',
    '/control/emit',
    '/control/card',
    '/v1/customers',
    '/v1/checkout/sessions',
    '/v1/subscriptions',
    '/v1/subscriptions/constructor',
    '/v1/prices',
    '/v1/billing_portal/configurations',
    '/v1/events',
    '/v1/invoices/__proto__/pay',
    '/v1/test_helpers/test_clocks',
    '/v1/%E0%A4%A',
  ];
  const keys = [
    'items[0][price]',
    'expand[]',
    'metadata[__proto__]',
    '__proto__[a]',
    'features',
    'features[subscription_update][products][0][prices]',
    'limit',
    'customer',
    'email',
    'kind',
    'to',
    'days',
    'a[b',
    'items[99999][x]',
    'mode',
    'line_items',
    'created[gt]',
    'flow_data[type]',
    'recurring[interval]',
    'currency',
    'name',
    'frozen_time',
    'cancel_at',
  ];
  const values = fc.oneof(
    fc.constantFrom('', '0', '-1', 'true', 'null', '99999999999999999', '[]', 'constructor', '\u0000'),
    fc.string(),
  );
  const fields = fc.dictionary(fc.constantFrom(...keys), values, { maxKeys: 5 });
  const bodies = fc.oneof(
    fields.map((entries) => ({
      type: 'application/x-www-form-urlencoded',
      text: new URLSearchParams(entries).toString(),
    })),
    fc.json().map((text) => ({ type: 'application/json', text })),
    fc.string().map((text) => ({ type: 'text/plain', text })),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...paths),
      fc.constantFrom('GET', 'POST', 'DELETE', 'PUT'),
      bodies,
      async (path, method, body) => {
        const address =
          method === 'GET' ? `${sandbox.url}${path}?${body.text.replace(/[^\w=&[\]%]/g, '')}` : `${sandbox.url}${path}`;
        const response = await fetch(address, {
          method,
          redirect: 'manual',
          headers: { authorization: 'Bearer sk_test_sandbox', 'content-type': body.type },
          ...(method !== 'GET' && { body: body.text }),
        });
        await response.text();
        expect(response.status, `${method} ${path} ${body.text}`).toBeLessThan(500);
        sandbox.mailbox.setFault(null);
      },
    ),
    { numRuns: 800 },
  );
  expect((await sdk(sandbox).prices.list()).data.length).toBeGreaterThan(0);
});

test('a body of more than a megabyte gets 413', async () => {
  const body = new URLSearchParams({ name: 'x'.repeat(1_100_000) });
  const response = await fetch(`${sandbox.url}/v1/customers`, {
    method: 'POST',
    body,
    headers: { authorization: 'Bearer sk_test_sandbox' },
  });
  expect(response.status).toBe(413);
  expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
});

function rawStatus(port: number, head: string): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${head}Connection: close\r\n\r\n`));
    socket.once('data', (data) => {
      resolve(Number(data.toString().split(' ')[1]));
      socket.destroy();
    });
  });
}

test('the people of the identity provider survive a restart', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'sandbox-'));
  const first = await startTestSandbox({ dataDir });
  first.idp.people.add({ email: 'kept@example.test', sub: '42' });
  await first.close();

  const second = await startTestSandbox({ dataDir });
  expect(second.idp.people.find('42')).toMatchObject({ email: 'kept@example.test' });
  await second.close();
  await rm(dataDir, { recursive: true });
});
