import { expect, test } from 'vitest';
import { readBody } from './read-body.ts';

/** A body that is sent in these parts; it ends as the last one says. */
function bodyOf(parts: string[], end: 'complete' | Error): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(new TextEncoder().encode(part));
      if (end === 'complete') controller.close();
      else controller.error(end);
    },
  });
}

test('a body is read to its end', async () => {
  expect(String(await readBody(bodyOf(['a=', '1'], 'complete'), 3))).toBe('a=1');
});

test('a body that is longer than the limit is too large', async () => {
  await expect(readBody(bodyOf(['a=', '12'], 'complete'), 3)).rejects.toMatchObject({ code: 'TOO_LARGE' });
});

test('a client that disconnects within its body has sent an invalid request, which is no failure of the service', async () => {
  const aborted = Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
  await expect(readBody(bodyOf([], aborted), 3)).rejects.toMatchObject({ code: 'VALIDATION' });
});

test('above 32 MiB that are being read at once a body is refused, until another one has arrived', async () => {
  const megabyte = new Uint8Array(1024 * 1024);
  const senders = Array.from({ length: 32 }, () => new TransformStream<Uint8Array>());
  const writers = senders.map(({ writable }) => writable.getWriter());
  const bodies = senders.map(({ readable }) => readBody(readable, megabyte.length));
  await Promise.all(writers.map((writer) => writer.write(megabyte)));
  await new Promise((resolve) => setImmediate(resolve));

  const refused = readBody(bodyOf(['{}'], 'complete'), 2);
  await expect(refused).rejects.toMatchObject({ code: 'BUSY', retryAfterSeconds: 5 });
  await writers[0]?.close();
  await bodies[0];
  expect(String(await readBody(bodyOf(['{}'], 'complete'), 2))).toBe('{}');
  await Promise.all(writers.slice(1).map((writer) => writer.close()));
  await Promise.all(bodies);
});
