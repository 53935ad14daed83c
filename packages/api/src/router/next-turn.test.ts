import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { callerFor, makeOwner } from '../testing/factories.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

it('a page gets the answer of a procedure, or its error, in a turn of the server', async () => {
  const { principal } = await makeOwner(test);
  const turns: (() => void)[] = [];
  const nextTurn = () => new Promise<void>((resolve) => turns.push(resolve));
  const settled: string[] = [];
  const answered = Promise.all([
    callerFor(test, principal, { nextTurn })
      .accounts.profile()
      .then(() => settled.push('answer')),
    callerFor(test, null, { nextTurn })
      .accounts.profile()
      .catch(() => settled.push('error')),
  ]);
  await expect.poll(() => turns).toHaveLength(2);
  expect(settled).toEqual([]);
  for (const turn of turns) turn();
  await answered;
  expect(settled.sort()).toEqual(['answer', 'error']);
});
