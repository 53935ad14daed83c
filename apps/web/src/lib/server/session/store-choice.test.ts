import { parseConfig } from '@gatehouse/api/platform/config';
import { isRedirect, type RequestEvent } from '@sveltejs/kit';
import { expect, test } from 'vitest';
import { storeChoice } from './store-choice.ts';

const url = new URL('http://localhost:3999/theme');
const config = parseConfig({ PUBLIC_BASE_URL: 'http://localhost:3999' });
const store = storeChoice('theme', (theme) => theme === 'dark');

/** The answer to a form, and what the form did to the cookie. */
async function answerTo(fields: Record<string, string>) {
  const did: string[] = [];
  const cookies = {
    set: (name: string, value: string) => did.push(`${name}=${value}`),
    delete: (name: string) => did.push(`no ${name}`),
  };
  const request = new Request(url, { method: 'POST', body: new URLSearchParams(fields) });
  const locals = { app: { config }, body: Buffer.from(String(new URLSearchParams(fields))) };
  const answer = await Promise.resolve(store({ request, locals, cookies, url } as unknown as RequestEvent)).catch(
    (thrown) => thrown,
  );
  return { did, answer: isRedirect(answer) ? [answer.status, answer.location] : [answer.status] };
}

test('a choice is stored and leads back to the page of the form, never to another site', async () => {
  expect(await answerTo({ theme: 'dark', from: '/login' })).toEqual({ did: ['theme=dark'], answer: [303, '/login'] });
  expect((await answerTo({ theme: 'dark', from: '/signup?forgot' })).answer).toEqual([303, '/signup?forgot']);
  expect(await answerTo({ theme: 'other', from: '//evil.example' })).toEqual({ did: ['no theme'], answer: [303, '/'] });
});

test('a page with a token in its address is loaded again with it', async () => {
  expect(await answerTo({ theme: 'dark', from: '/invitation', token: 'a&b' })).toEqual({
    did: ['theme=dark'],
    answer: [303, '/invitation?token=a%26b'],
  });
});

test('a form of a page that must stay as it is gets 204', async () => {
  expect(await answerTo({ theme: 'dark', stay: 'yes' })).toEqual({ did: ['theme=dark'], answer: [204] });
});
