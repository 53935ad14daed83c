import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../platform/db/id.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { makeMember } from '../../testing/billing.ts';
import { take } from '../../testing/usage.ts';
import { readSubscription } from '../summary/read-subscription.ts';
import { requireRoomForMember } from './member-room.ts';

let running: TestApp;
beforeAll(async () => {
  running = await startTestApp({ work: false });
});
afterAll(() => running.close());

async function used(principal: Parameters<typeof readSubscription>[1]) {
  const { usage } = await readSubscription(running.app, principal);
  return usage.find(({ meter }) => meter === 'members')?.used;
}

describe('members', () => {
  async function join(organisationId: string): Promise<void> {
    const userId = newId(running.app.now());
    await running.app.db.transaction(async (tx) => {
      await requireRoomForMember(running.app, tx, organisationId);
      await tx.insert(users).values({ id: userId, email: `${userId}@company.example`, createdAt: running.app.now() });
      await tx.insert(memberships).values({ userId, organisationId, role: 'member', createdAt: running.app.now() });
    });
  }

  test('who join concurrently never exceed the limit', async () => {
    const principal = await makeMember(running);
    const joined = await Promise.allSettled(Array.from({ length: 10 }, () => join(principal.organisationId)));
    expect(joined.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await used(principal)).toBe(2);
    await expect(join(principal.organisationId)).rejects.toThrow('The Free plan allows 2 members.');
  });

  test('are counted, not reserved', async () => {
    const { organisationId } = await makeMember(running);
    await expect(take(running, { organisationId, meter: 'members' })).rejects.toMatchObject({ code: 'VALIDATION' });
    expect(await running.app.db.$count(memberships, eq(memberships.organisationId, organisationId))).toBe(1);
  });
});
