import type { RequestEvent } from '@sveltejs/kit';
import { expect, it } from 'vitest';
import { renderPage } from './render-page.ts';

it('a page is rendered in its turn, and not at all once its client has disconnected', async () => {
  const steps: string[] = [];
  const client = new AbortController();
  const nextTurn = async () => void steps.push('turn');
  const event = {
    request: new Request('http://localhost/login', { signal: client.signal }),
    cookies: { get: () => undefined },
    locals: { language: 'en', nextTurn },
  } as unknown as RequestEvent;
  const resolve = async () => {
    steps.push('page');
    return new Response('page');
  };

  expect((await renderPage(event, resolve)).status).toBe(200);
  client.abort();
  expect((await renderPage(event, resolve)).status).toBe(499);
  expect(steps).toEqual(['turn', 'page', 'turn']);
});
