import type { Caller } from '@gatehouse/api/router/root';
import { startTestApp, type TestApp } from '@gatehouse/api/testing/app';
import { callerFor, makeOwner } from '@gatehouse/api/testing/factories';
import type { RequestEvent } from '@sveltejs/kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { formAction } from './form-action.ts';
import { text } from './form-fields.ts';

let test: TestApp;
let api: Caller;
beforeAll(async () => {
  test = await startTestApp({ environment: { RATE_LIMITS: 'on' } });
  api = callerFor(test, (await makeOwner(test)).principal);
});
afterAll(() => test.close());

function eventOf(fields: Record<string, string>) {
  const headers: Record<string, string> = {};
  const url = new URL('/account', 'http://localhost:3999');
  const event = {
    url,
    request: new Request(url, { method: 'POST', body: new URLSearchParams(fields) }),
    locals: { app: test.app, api, requestId: 'test', body: Buffer.from(String(new URLSearchParams(fields))) },
    setHeaders: (set: Record<string, string>) => Object.assign(headers, set),
  } as unknown as RequestEvent;
  return { event, headers };
}

const changeName = formAction(({ accounts }, form) => accounts.changeName({ name: text(form, 'name') }), {
  done: '/account',
  failure: (form, { code }) => ({ typed: text(form, 'name'), code }),
});

it('redirects after success, so that a reload does not post again', async () => {
  await expect(changeName(eventOf({ name: 'Larch' }).event)).rejects.toMatchObject({
    status: 303,
    location: '/account',
  });
  expect((await api.members.search()).members.map(({ name }) => name)).toEqual(['Larch']);
});

it('returns data instead of a redirect where the page shows what was made', async () => {
  const names = formAction(({ members }) => members.search(), {
    done: (_form, { members }) => ({ names: members.map(({ name }) => name) }),
  });
  expect(await names(eventOf({}).event)).toEqual({ names: ['Larch'] });
});

it('answers a failure with the status and body of the JSON endpoints, and with what was typed', async () => {
  expect(await changeName(eventOf({ name: 'x'.repeat(1000) }).event)).toMatchObject({
    status: 400,
    data: {
      error: expect.any(String),
      code: 'VALIDATION',
      fields: { name: expect.any(String) },
      typed: 'x'.repeat(1000),
    },
  });
});

it('names the time to wait when a limit is reached', async () => {
  const signIn = formAction(({ signIn }) => signIn.withPassword({ email: 'a@b.example', password: 'wrong-password' }), {
    done: '/',
  });
  for (let attempts = 0; attempts < 50; attempts++) {
    const { event, headers } = eventOf({});
    const failed = (await signIn(event)) as { status: number; data: { error: string } };
    if (failed.status !== 429) continue;
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(failed.data.error).toMatch(/^Too many attempts\. Try again in (a minute|\d+ minutes)\.$/);
    return;
  }
  expect.unreachable('the limit was not reached');
});

it('logs an unexpected error once and shows none of it', async () => {
  const broken = formAction(() => Promise.reject(new TypeError('internal detail')), { done: '/' });
  const failure = await broken(eventOf({}).event);

  expect(failure).toMatchObject({ status: 500, data: { code: 'INTERNAL' } });
  expect(JSON.stringify(failure)).not.toContain('internal detail');
  const errors = test.logged.filter(({ level }) => level === 'error');
  expect(errors.map(({ message }) => message)).toEqual(['request failed']);
  test.logged.length = 0;
});

it('rejects a body that is not a form before the procedure runs', async () => {
  const { event } = eventOf({});
  const request = new Request(event.url, {
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'application/json' },
  });
  await expect(changeName({ ...event, request })).rejects.toMatchObject({ status: 415 });
});
