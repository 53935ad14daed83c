import { newEmail, passPhrase } from '../support/people.ts';
import { type RawRequest, send } from '../support/raw-request.ts';
import { expect, test } from '../support/service.ts';

const json = { 'content-type': 'application/json' };
const credentials = JSON.stringify({ email: newEmail(), password: passPhrase });
const multipart = {
  headers: { 'content-type': 'multipart/form-data; boundary=x' },
  body: `--x\r\ncontent-disposition: form-data; name="email"\r\n\r\n${newEmail()}\r\n--x--\r\n`,
};

const errorCodes: [what: string, path: string, sent: RawRequest, status: number, code: string][] = [
  ['a form', 'accounts.signUp', multipart, 415, 'NOT_JSON'],
  ['a form at sign-out', 'signIn.out', multipart, 415, 'NOT_JSON'],
  [
    'a stream of bytes',
    'accounts.signUp',
    { headers: { 'content-type': 'application/octet-stream' }, body: credentials },
    415,
    'NOT_JSON',
  ],
  ['text', 'accounts.signUp', { headers: { 'content-type': 'text/plain' }, body: credentials }, 415, 'NOT_JSON'],
  ['a form without a session', 'billing.checkout', multipart, 401, 'UNAUTHENTICATED'],
  [
    'text without a session',
    'billing.checkout',
    { headers: { 'content-type': 'text/plain' }, body: 'x' },
    401,
    'UNAUTHENTICATED',
  ],
  ['malformed JSON without a session', 'billing.checkout', { headers: json, body: '{' }, 401, 'UNAUTHENTICATED'],
  ['malformed JSON', 'accounts.signUp', { headers: json, body: '{' }, 400, 'VALIDATION'],
  ['no body', 'accounts.signUp', {}, 400, 'VALIDATION'],
  ['no such procedure', 'no.such.procedure', multipart, 404, 'NOT_FOUND'],
];

for (const [what, path, sent, status, code] of errorCodes) {
  test(`${what} at ${path} is refused as ${code}`, async ({ service }) => {
    const answer = await send(service, `/api/trpc/${path}`, { method: 'POST', ...sent });
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.text).error.data.appCode).toBe(code);
  });
}

test('a list is refused as input', async ({ service }) => {
  const answer = await send(service, '/api/trpc/accounts.signUp', { method: 'POST', headers: json, body: '[]' });
  expect(JSON.parse(answer.text).error.message).toBe('Send a JSON object.');
});

test('a chunked body beyond the limit gets 413', async ({ service }) => {
  const answer = await send(service, '/api/trpc/accounts.signUp', {
    method: 'POST',
    headers: { ...json, 'transfer-encoding': 'chunked' },
    body: JSON.stringify({ email: 'x'.repeat(70_000) }),
  });
  expect(answer.status).toBe(413);
  expect(JSON.parse(answer.text).code).toBe('TOO_LARGE');
});

test('a query reads its input from the query string, and HEAD is answered like GET', async ({ service }) => {
  const input = encodeURIComponent(JSON.stringify({ token: 'x' }));
  const dead = await send(service, `/api/trpc/accounts.passwordToken?input=${input}`);
  expect(JSON.parse(dead.text).error).toMatchObject({
    message: expect.stringMatching(/link/),
    data: { appCode: 'VALIDATION' },
  });
  expect((await send(service, '/api/trpc/sessions.verify')).status).toBe(401);
  expect(await send(service, '/api/trpc/sessions.verify', { method: 'HEAD' })).toMatchObject({ status: 401, text: '' });
});

test('GET and HEAD of a mutation get 405 with the allowed method, and change nothing', async ({ service }) => {
  for (const method of ['GET', 'HEAD']) {
    const answer = await send(service, '/api/trpc/signIn.out', { method });
    expect([answer.status, answer.headers.allow]).toEqual([405, 'POST']);
  }
});

for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
  test(`${method} of a procedure gets 405`, async ({ service }) => {
    const answer = await send(service, '/api/trpc/sessions.verify', { method });
    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, HEAD, POST']);
    expect(JSON.parse(answer.text).code).toBe('METHOD_NOT_ALLOWED');
  });
}
