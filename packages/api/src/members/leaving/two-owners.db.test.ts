import { eq, inArray } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { users } from '../../platform/db/schema/accounts.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { waitingForLocks } from '../../testing/database/waiting-for-locks.ts';
import { addMember, makeOwner, testPassword } from '../../testing/factories.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

it('deletes an organisation with the last of two owners who delete their accounts at once', async () => {
  const { api, userId, organisationId } = await makeOwner(test);
  const second = await addMember(test, organisationId, 'owner');
  const leave = [
    () => api.leaving.deleteAccount({ password: testPassword }),
    () => second.api.leaving.deleteAccount({}),
  ];

  // Both requests have read the owners already: each found the other one.
  const started = await test.app.db.transaction(async (tx) => {
    await tx
      .select()
      .from(users)
      .where(inArray(users.id, [userId, second.userId]))
      .for('update');
    const calls = leave.map((each) => each());
    void Promise.allSettled(calls);
    await waitingForLocks(test, 2);
    return { calls };
  });
  const ended = await Promise.allSettled(started.calls);
  const refused = ended.findIndex(({ status }) => status === 'rejected');
  expect(ended[refused]).toMatchObject({ reason: { cause: { code: 'BUSY' } } });
  expect(await test.app.db.$count(memberships, eq(memberships.organisationId, organisationId))).toBe(1);

  await leave[refused]?.();
  expect(await test.app.db.$count(organisations, eq(organisations.id, organisationId))).toBe(0);
});
