import type { RequestEvent } from '@sveltejs/kit';
import { expect, it } from 'vitest';
import { renderPage } from './render-page.ts';

it('a page is rendered in its turn, and not at all once its client has disconnected, while a form is processed', async () => {
  const steps: string[] = [];
  const client = new AbortController();
  const nextTurn = async () => void steps.push('turn');
  const eventOf = (method: string) =>
    ({
      request: new Request('http://localhost/login', { method, signal: client.signal }),
      cookies: { get: () => undefined },
      locals: { language: 'en', nextTurn },
    }) as unknown as RequestEvent;
  const resolve = async () => {
    steps.push('page');
    return new Response('page');
  };

  expect((await renderPage(eventOf('GET'), resolve)).status).toBe(200);
  client.abort();
  expect((await renderPage(eventOf('GET'), resolve)).status).toBe(499);
  expect((await renderPage(eventOf('POST'), resolve)).status).toBe(200);
  expect(steps).toEqual(['turn', 'page', 'turn', 'turn', 'page']);
});
