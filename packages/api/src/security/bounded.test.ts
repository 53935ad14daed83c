import { expect, it } from 'vitest';
import { bounded } from './bounded.ts';

it('runs no more at once than it may, and turns a flood away', async () => {
  let running = 0;
  let most = 0;
  const run = bounded(2, 5);
  const tasks = Array.from({ length: 10 }, () =>
    run(async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
    }).then(
      () => 'done',
      (error) => error.code,
    ),
  );
  const ended = await Promise.all(tasks);

  expect(most).toBe(2);
  expect(ended.filter((each) => each === 'done')).toHaveLength(7);
  expect(ended.filter((each) => each === 'BUSY')).toHaveLength(3);
  expect(await run(async () => 'free again')).toBe('free again');
});

it('gives its place back when a task throws', async () => {
  const run = bounded(1, 0);
  await expect(run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await run(async () => 'next')).toBe('next');
});
