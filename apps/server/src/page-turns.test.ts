import { expect, it } from 'vitest';
import { createPageTurns } from './page-turns.ts';

it('one page starts in each turn of the event loop, in the order in which they arrived', async () => {
  const startPage = createPageTurns();
  const started: string[] = [];
  const pages = ['a', 'b', 'c'].map((name) => startPage(() => started.push(name)));
  for (const expected of ['', 'a', 'ab', 'abc']) {
    expect(started.join('')).toBe(expected);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await Promise.all(pages)).toEqual([1, 2, 3]);
});

it('a page that fails rejects its own promise, and the next one starts', async () => {
  const startPage = createPageTurns();
  const failed = startPage(() => {
    throw new Error('broken');
  });
  const next = startPage(() => 'next');
  await expect(failed).rejects.toThrow('broken');
  expect(await next).toBe('next');
});
