import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../db/id.ts';
import { users } from '../db/schema/accounts.ts';
import { memberships } from '../db/schema/members.ts';
import { readSubscription } from '../subscription/read-subscription.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { makeMember } from '../testing/billing.ts';
import { requireRoomForMember } from './member-room.ts';
import { release, reserve } from './reserve.ts';

let running: TestApp;
beforeAll(async () => {
  running = await startTestApp({ work: false });
});
afterAll(() => running.close());

async function used(principal: Parameters<typeof readSubscription>[1], meter: string) {
  const { usage } = await readSubscription(running.app, principal);
  return usage.find((each) => each.meter === meter)?.used;
}

describe('reserving', () => {
  test('concurrent calls never exceed the limit', async () => {
    const principal = await makeMember(running);
    const { organisationId } = principal;
    const asked = Array.from({ length: 40 }, () =>
      reserve(running.app, running.app.db, { organisationId, meter: 'projects' }),
    );
    const taken = (await Promise.allSettled(asked)).filter(({ status }) => status === 'fulfilled');
    expect(taken).toHaveLength(3);
    expect(await used(principal, 'projects')).toBe(3);
  });

  test('above the limit is refused with a sentence that names it', async () => {
    const { organisationId } = await makeMember(running);
    const ask = (meter: string, units: number) =>
      reserve(running.app, running.app.db, { organisationId, meter, units });
    await expect(ask('projects', 4)).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: 'The Free plan allows 3 projects.',
    });
    await expect(ask('api_calls', 1001)).rejects.toThrow('The Free plan allows 1,000 API calls a month.');
  });

  test('releases units, but never below zero', async () => {
    const principal = await makeMember(running);
    const { organisationId } = principal;
    await reserve(running.app, running.app.db, { organisationId, meter: 'projects', units: 2 });
    await release(running.app, running.app.db, { organisationId, meter: 'projects', units: 5 });
    expect(await used(principal, 'projects')).toBe(0);
  });

  test('in a transaction that fails reserves nothing', async () => {
    const principal = await makeMember(running);
    const failed = running.app.db.transaction(async (tx) => {
      await reserve(running.app, tx, { organisationId: principal.organisationId, meter: 'projects' });
      throw new Error('something else');
    });
    await expect(failed).rejects.toThrow('something else');
    expect(await used(principal, 'projects')).toBe(0);
  });

  test.each([0, -1, 1.5, Number.NaN])('requires a positive whole number of units, not %d', async (units) => {
    const { organisationId } = await makeMember(running);
    await expect(
      reserve(running.app, running.app.db, { organisationId, meter: 'projects', units }),
    ).rejects.toMatchObject({
      code: 'VALIDATION',
    });
  });
});

test('a counter resets at the start of each month in UTC', async () => {
  const principal = await makeMember(running);
  const app = { ...running.app, now: () => new Date('2026-01-31T23:59:59Z') };
  await reserve(app, app.db, { organisationId: principal.organisationId, meter: 'api_calls', units: 900 });
  const reading = async () => (await readSubscription(app, principal)).usage.find(({ meter }) => meter === 'api_calls');
  expect(await reading()).toMatchObject({ used: 900, resets_at: '2026-02-01T00:00:00.000Z' });

  app.now = () => new Date('2026-02-01T00:00:00Z');
  expect(await reading()).toMatchObject({ used: 0, resets_at: '2026-03-01T00:00:00.000Z' });
  await reserve(app, app.db, { organisationId: principal.organisationId, meter: 'api_calls', units: 900 });
});

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
    expect(await used(principal, 'members')).toBe(2);
    await expect(join(principal.organisationId)).rejects.toThrow('The Free plan allows 2 members.');
  });

  test('are counted, not reserved', async () => {
    const { organisationId } = await makeMember(running);
    await expect(reserve(running.app, running.app.db, { organisationId, meter: 'members' })).rejects.toThrow();
    expect(await running.app.db.$count(memberships, eq(memberships.organisationId, organisationId))).toBe(1);
  });
});
