import { afterAll, beforeAll, expect, it } from 'vitest';
import { readSession, startSession } from '../auth/sessions/session.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { callerFor, makeOwner, testClient } from '../testing/factories.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

const losses = [
  ['the mark', 'update users set operator = false where id = $1', 'FORBIDDEN'],
  ['the session', 'delete from sessions where user_id = $1', 'UNAUTHENTICATED'],
  ['the account', 'delete from users where id = $1', 'UNAUTHENTICATED'],
] as const;

type Api = ReturnType<typeof callerFor>;
const makings = [
  ['API key', (api: Api) => api.operators.createKey({ name: 'Console' })],
  ['password link', (api: Api, otherId: string) => api.operators.passwordLink({ user_id: otherId })],
] as const;

it.each(losses.flatMap(([what, loss, code]) => makings.map(([made, make]) => ({ what, loss, code, made, make }))))(
  'an operator who loses $what meanwhile makes no $made that would outlive it',
  async ({ loss, code, make }) => {
    const { userId, organisationId } = await makeOwner(test, { operator: true });
    const other = await makeOwner(test);
    const session = await startSession(test.app, { userId, organisationId, fresh: true, client: testClient });
    const api = callerFor(test, await readSession(test.app, session));
    let made: Promise<unknown> = Promise.resolve();
    await test.app.sql.begin(async (tx) => {
      await tx`select from users where id = ${userId} for update`;
      await tx.unsafe(loss, [userId]);
      made = make(api, other.userId);
      made.catch(() => {});
      // Until it waits for this transaction, or has not.
      await new Promise((resolve) => setTimeout(resolve, 200));
    });
    await expect(made).rejects.toMatchObject({ cause: { code } });
  },
);

it('two operators who make links at the same moment wait for each other in one order', async () => {
  const [one, two] = [await makeOwner(test, { operator: true }), await makeOwner(test, { operator: true })];
  const asked = Array.from({ length: 20 }, (_, index) => {
    const [from, to] = index % 2 === 0 ? [one, two] : [two, one];
    return from.api.operators.passwordLink({ user_id: to.userId });
  });
  for (const each of await Promise.allSettled(asked)) {
    expect(each).toMatchObject({ status: 'rejected', reason: { cause: { code: 'FORBIDDEN' } } });
  }
});
