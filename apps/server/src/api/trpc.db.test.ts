import { answerMatch, matchOf } from '@gatehouse/api/http/answer-endpoint';
import { newRequestState, sessionActions } from '@gatehouse/api/http/open-request';
import type { RequestState } from '@gatehouse/api/http/request';
import { startTestApp, type TestApp } from '@gatehouse/api/testing/app';
import { callerFor, makeOwner } from '@gatehouse/api/testing/factories';
import { fieldsOf, isMutation, procedures } from '@gatehouse/api/testing/fields-of';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { answer, endpointRequestOf } from './testing/serve-endpoints.ts';

let test: TestApp;
let owner: Awaited<ReturnType<typeof makeOwner>>;
beforeAll(async () => {
  test = await startTestApp();
  owner = await makeOwner(test);
});
afterAll(() => test.close());

async function ask(path: string, body?: string): Promise<{ status: number; text: string }> {
  const url = new URL(path, 'http://localhost:3999');
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: body ?? null };
  const cookies = { get: () => undefined, set: () => {}, delete: () => {} };
  const request = endpointRequestOf(test.app, new Request(url, body === undefined ? {} : post), cookies);
  const state: RequestState = {
    ...newRequestState(test.app),
    principal: owner.principal,
    client: { address: '127.0.0.1', userAgent: null },
    api: callerFor(test, owner.principal),
    body: Buffer.from(body ?? ''),
  };
  state.session = sessionActions(state, cookies);
  const answered = await answerMatch(state, request, matchOf(url.pathname, test.app));
  return { status: answered.status, text: answered.body };
}

const levels = [40, 1000, 10_000];
const nestings: Record<string, (level: number) => string> = {
  objects: (level) => `${'{"a":'.repeat(level)}1${'}'.repeat(level)}`,
  lists: (level) => `{"email":${'['.repeat(level)}${']'.repeat(level)}}`,
  both: (level) => `${'{"email":['.repeat(level / 2)}${']}'.repeat(level / 2)}`,
};

for (const [what, nest] of Object.entries(nestings)) {
  it.each(levels)(`refuses ${what} nested %i deep with 400, at a procedure and at an endpoint`, async (level) => {
    const body = nest(level);
    for (const path of ['accounts.signUp', 'accounts.resend', 'signIn.out', 'accounts.changeName']) {
      expect((await ask(`/api/trpc/${path}`, body)).status, path).toBe(400);
    }
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    const resend = new Request('http://localhost:3999/api/signup/resend', init);
    expect((await answer(test.app, resend)).status).toBe(400);
    const query = `/api/trpc/accounts.passwordToken?input=${encodeURIComponent(body)}`;
    expect((await ask(query)).status).toBe(400);
  });
}

it('accepts a body that is nested as deep as any real one', async () => {
  const body = JSON.stringify({ name: 'A Person', beside: [{ more: [{ than: [{ is: ['asked', 'for'] }] }] }] });
  expect((await ask('/api/trpc/accounts.changeName', body)).status).toBe(200);
});

it('knows a procedure by its plain name alone, by which requests are told apart', async () => {
  expect((await ask('/api/trpc/public.subscriptionX')).status).toBe(404);
  const name = encodeURIComponent('accounts.passwordToken').replace('.', '%2E');
  expect((await ask('/api/trpc/accounts.passwordToken?input={}')).status).toBe(400);
  expect((await ask(`/api/trpc/${name}?input={}`)).status).toBe(404);
});

const manyNames = Array.from({ length: 500 }, () => 'accounts.resend').join(',');
it.each([
  ['a batch of one', 'accounts.resend?batch=1', '{"0":{"email":"a@company.example"}}'],
  ['a batch without a body', 'accounts.resend?batch=1', '{}'],
  ['two procedures', 'accounts.resend,accounts.signUp?batch=1', '{"0":{},"1":{}}'],
  ['two procedures without the word', 'accounts.resend,accounts.signUp', '{}'],
  ['an enormous batch', `${manyNames}?batch=1`, '{}'],
  ['an enormous batch without the word', manyNames, '{}'],
  ['a batch of queries', 'accounts.profile,members.search?batch=1&input=%7B%7D', undefined],
  ['a batch whose input is no object', 'accounts.profile?batch=1&input=%5B%5D', undefined],
  ['a batch whose input is null', 'accounts.profile?batch=1&input=null', undefined],
  ['connection parameters', 'accounts.profile?connectionParams=1', undefined],
  ['connection parameters that are no JSON', 'accounts.profile?connectionParams=%7B', undefined],
  ['connection parameters of any kind', 'accounts.profile?connectionParams=%7B%22a%22%3A1%7D', undefined],
  ['connection parameters in a body', 'accounts.resend?connectionParams=1', '{}'],
  ['input that breaks off', 'accounts.passwordToken?input=%7B', undefined],
  ['input of bytes that are no text', 'accounts.passwordToken?input=%FF', undefined],
  ['no name', '', undefined],
  ['a name of an object’s own', '__proto__', undefined],
  ['a constructor', 'constructor', '{}'],
  ['a part of the router', 'accounts', '{}'],
  ['a name behind a procedure', 'accounts.resend.call', '{}'],
  ['a name that is no text', '%FF', undefined],
  ['a name with a NUL', 'accounts%00', '{}'],
])('answers %s without an internal error', async (_, path, body) => {
  const { status, text } = await ask(`/api/trpc/${path}`, body);
  expect(status, text).toBeLessThan(500);
});

it('answers any input of a procedure without an internal error', async () => {
  const deep = fc
    .integer({ min: 1, max: 5000 })
    .chain((level) => fc.constantFrom(...Object.values(nestings).map((nest) => nest(level * 2))));
  const codePoint = fc.integer({ min: 0, max: 0x10ffff }).map((point) => String.fromCodePoint(point));
  const wild = fc.oneof(fc.json({ maxDepth: 30 }), deep, fc.string({ unit: codePoint }));
  const asked = procedures.filter((path) => path !== 'signIn.out' && path !== 'leaving.deleteAccount');
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...asked), wild, fc.boolean(), async (path, value, inField) => {
      const field = fieldsOf(path)[0] ?? 'email';
      const sent = inField ? `{"${field}":${value}}` : value;
      const name = `/api/trpc/${path}`;
      const { status, text } = isMutation(path)
        ? await ask(name, sent)
        : await ask(`${name}?input=${encodeURIComponent(sent.toWellFormed())}`);
      expect(status, `${path}: ${text}`).toBeLessThan(500);
    }),
    { numRuns: 300 },
  );
});
