import { expect, test } from 'vitest';
import { readRequestBytes } from './read-body.ts';

/** A request whose body is sent in these parts; it ends as the last one says. */
function requestWith(parts: string[], end: 'complete' | Error): Request {
  const body = new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(new TextEncoder().encode(part));
      if (end === 'complete') controller.close();
      else controller.error(end);
    },
  });
  return new Request('http://localhost/login', { method: 'POST', body, duplex: 'half' } as RequestInit);
}

test('a body is read to its end', async () => {
  expect(String(await readRequestBytes(requestWith(['a=', '1'], 'complete'), 3))).toBe('a=1');
});

test('a body that is longer than the limit is too large', async () => {
  await expect(readRequestBytes(requestWith(['a=', '12'], 'complete'), 3)).rejects.toMatchObject({ code: 'TOO_LARGE' });
});

test('a client that disconnects within its body has sent an invalid request, which is no failure of the service', async () => {
  const aborted = Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
  await expect(readRequestBytes(requestWith([], aborted), 3)).rejects.toMatchObject({ code: 'VALIDATION' });
});
