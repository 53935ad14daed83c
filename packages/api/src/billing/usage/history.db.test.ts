import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memberships } from '../../platform/db/schema/members.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { makeMember } from '../../testing/billing.ts';
import { addMember } from '../../testing/factories.ts';
import { giveBack, makeTarget, take } from '../../testing/usage.ts';
import { correctUsage } from './correct-usage.ts';
import { deleteOldDays, storeMemberDays } from './keep-days.ts';
import { readHistory } from './read-history.ts';
import { setGauge } from './set-gauge.ts';
import { usageDaysInput } from './usage-input.ts';

let running: TestApp;
beforeAll(async () => {
  running = await startTestApp({ work: false });
});
afterAll(() => running.close());

const at = (text: string) => ({ app: { ...running.app, now: () => new Date(`${text}Z`) } });
const values = async (target: { organisationId: string }, meter: string, days: number, now: string) =>
  (await readHistory(at(now).app, target, meter, days)).days.map(({ used }) => used);

describe('setting a gauge', () => {
  test('stores the value, also above the limit', async () => {
    const target = await makeTarget(running);
    expect(await setGauge(running.app, target, 'projects', { used: 50 })).toEqual({
      meter: 'projects',
      used: 50,
      limit: 3,
    });
    await expect(take(running, target)).rejects.toMatchObject({ facts: { used: 50 } });
    expect(await setGauge(running.app, target, 'projects', { used: 1 })).toMatchObject({ used: 1 });
  });

  test('in any order keeps the newest value', async () => {
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray([1, 2, 3, 4, 5], { minLength: 1 }), async (order) => {
        const target = await makeTarget(running);
        const minute = (value: number) => new Date(Date.UTC(2026, 4, 20, 12, value));
        const { app } = at('2026-05-20T12:10');
        await Promise.all(order.map((used) => setGauge(app, target, 'projects', { used, at: minute(used) })));
        const answer = await setGauge(app, target, 'projects', { used: 99, at: minute(0) });
        expect(answer.used).toBe(Math.max(...order));
      }),
      { numRuns: 15 },
    );
  });

  test('to a value that is older than a reservation or a release changes nothing', async () => {
    const target = await makeTarget(running);
    const noon = new Date('2026-05-20T12:00:00Z');
    const { app } = at('2026-05-20T12:05');
    await setGauge(app, target, 'projects', { used: 1, at: noon });
    await take({ app }, target);
    expect(await setGauge(app, target, 'projects', { used: 1, at: noon })).toMatchObject({ used: 2, superseded: true });
    await giveBack(at('2026-05-20T12:07'), target);
    expect(await setGauge(app, target, 'projects', { used: 2, at: app.now() })).toMatchObject({
      used: 1,
      superseded: true,
    });
    const later = { used: 3, at: new Date('2026-05-20T12:08:00Z') };
    expect(await setGauge(at('2026-05-20T12:08').app, target, 'projects', later)).toMatchObject({ used: 3 });
  });

  test('to a value that is older than a refused reservation stores the value', async () => {
    const target = await makeTarget(running);
    const { app } = at('2026-05-20T12:05');
    const noon = new Date('2026-05-20T12:00:00Z');
    await expect(take({ app }, { ...target, amount: 50 })).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    expect(await setGauge(app, target, 'projects', { used: 2, at: noon })).toMatchObject({ used: 2 });
    await expect(take({ app }, { ...target, amount: 50 })).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    const { used } = await setGauge(app, target, 'projects', { used: 3, at: new Date('2026-05-20T12:01:00Z') });
    expect(used).toBe(3);
  });

  test('without a time stores the value, also if a clock that is ahead wrote before', async () => {
    const target = await makeTarget(running);
    await take(at('2026-05-20T12:05'), target);
    expect(await setGauge(at('2026-05-20T12:04').app, target, 'projects', { used: 3 })).toMatchObject({ used: 3 });
    expect(await setGauge(at('2026-05-20T12:03').app, target, 'projects', { used: 2 })).toMatchObject({ used: 2 });
  });

  test('of an unknown meter, a counter or members is refused', async () => {
    const target = await makeTarget(running);
    const set = (meter: string) => setGauge(running.app, target, meter, { used: 1 });
    await expect(set('rockets')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(set('api_calls')).rejects.toMatchObject({ code: 'VALIDATION' });
    await expect(set('members')).rejects.toMatchObject({ code: 'VALIDATION' });
    const gone = { organisationId: randomUUID() };
    await expect(setGauge(running.app, gone, 'projects', { used: 1 })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('the history', () => {
  test('has a value that was set for a day before, also where a reservation was refused or held since', async () => {
    const [refused, held] = [await makeTarget(running), await makeTarget(running)];
    for (const target of [refused, held]) {
      await setGauge(at('2026-05-01T08:00').app, target, 'projects', { used: 1 });
    }
    await expect(take(at('2026-05-04T00:10'), { ...refused, amount: 9 })).rejects.toMatchObject({
      code: 'LIMIT_REACHED',
    });
    await take(at('2026-05-04T00:10'), { ...held, expires: 60 });
    for (const target of [refused, held]) {
      const evening = new Date('2026-05-02T23:59:00Z');
      await setGauge(at('2026-05-04T00:20').app, target, 'projects', { used: 2, at: evening });
      expect(await values(target, 'projects', 4, '2026-05-04T00:30')).toEqual([1, 2, 2, 2]);
      expect(await values(target, 'projects', 2, '2026-05-06T00:00')).toEqual([2, 2]);
    }
  });

  test('of a counter has what was counted on each day in UTC, and zeros', async () => {
    const target = { ...(await makeTarget(running)), meter: 'api_calls' };
    await take(at('2026-04-29T23:59:59.999'), { ...target, amount: 1 });
    await take(at('2026-04-30T00:00'), { ...target, amount: 2 });
    await take(at('2026-05-02T08:00'), { ...target, amount: 3 });
    await take(at('2026-05-02T09:00'), { ...target, amount: 4 });
    await expect(take(at('2026-05-02T10:00'), { ...target, amount: 999 })).rejects.toThrow();
    expect(await readHistory(at('2026-05-02T12:00').app, target, 'api_calls', 5)).toEqual({
      meter: 'api_calls',
      days: [
        { date: '2026-04-28', used: 0 },
        { date: '2026-04-29', used: 1 },
        { date: '2026-04-30', used: 2 },
        { date: '2026-05-01', used: 0 },
        { date: '2026-05-02', used: 7 },
      ],
    });
    expect(await values(target, 'api_calls', 1, '2026-05-02T12:00')).toEqual([7]);
  });

  test('of a gauge has the value at each day’s end, and keeps it until it changes', async () => {
    const target = await makeTarget(running);
    await take(at('2026-05-01T08:00'), { ...target, amount: 3 });
    await giveBack(at('2026-05-01T09:00'), target);
    await setGauge(at('2026-05-04T10:00').app, target, 'projects', { used: 7 });
    expect(await values(target, 'projects', 7, '2026-05-06T00:00')).toEqual([0, 2, 2, 2, 7, 7, 7]);
    const correction = { ...target, meter: 'projects', used: 4, reason: 'Counted twice.' };
    await correctUsage(at('2026-05-06T00:00').app, correction, { actorId: null });
    expect(await values(target, 'projects', 7, '2026-05-06T00:00')).toEqual([0, 2, 2, 2, 7, 7, 4]);
    expect(await values(target, 'projects', 2, '2026-05-03T00:00')).toEqual([2, 2]);
  });

  test('of members comes from the memberships, by a job after each day', async () => {
    const { organisationId } = await makeMember(running);
    const target = { organisationId };
    const today = new Date();
    const later = (days: number) => new Date(today.getTime() + days * dayMilliseconds).toISOString().slice(0, 19);
    await storeMemberDays(at(later(1)).app);
    await addMember(running, organisationId, 'member');
    await storeMemberDays(at(later(2)).app);
    await storeMemberDays(at(later(3)).app);
    expect(await values(target, 'members', 5, later(3))).toEqual([0, 1, 2, 2, 2]);
    await running.app.db.delete(memberships).where(eq(memberships.organisationId, organisationId));
    expect(await values(target, 'members', 2, later(3))).toEqual([2, 0]);
  });

  test('of members is stored for any number of organisations, by a run that may be repeated', async () => {
    const { sql } = running.app;
    const { userId } = await makeMember(running).then(({ user }) => ({ userId: user.id }));
    await sql`
      with made as (
        insert into organisations (id, slug, created_at, approval)
        select gen_random_uuid(), 'many-' || n, now(), 'approved' from generate_series(1, 2100) as n returning id
      )
      insert into memberships (user_id, organisation_id, role, created_at) select ${userId}, id, 'owner', now() from made`;
    const tomorrow = new Date(running.app.now().getTime() + dayMilliseconds).toISOString().slice(0, 19);
    for (const now of [tomorrow, tomorrow]) await storeMemberDays(at(now).app);
    const days = await sql`
      select used from usage_days join organisations on id = organisation_id
      where meter = 'members' and slug like 'many-%'`;
    expect(days).toHaveLength(2100);
    expect(days.every(({ used }) => Number(used) === 1)).toBe(true);
    await sql`delete from organisations where slug like 'many-%'`;
  });

  test('is deleted when no history reaches it, except a gauge’s last value', async () => {
    const target = await makeTarget(running);
    await setGauge(at('2024-01-01T08:00').app, target, 'projects', { used: 4 });
    await setGauge(at('2024-01-02T08:00').app, target, 'projects', { used: 5 });
    await setGauge(at('2026-05-19T08:00').app, target, 'projects', { used: 6 });
    await take(at('2024-01-01T08:00'), { ...target, meter: 'api_calls' });
    await deleteOldDays(at('2026-05-20T12:00').app);
    expect(await values(target, 'projects', 3, '2026-05-20T12:00')).toEqual([5, 6, 6]);
    const left = await running.app.sql`
      select since from usage where organisation_id = ${target.organisationId} and meter = 'api_calls'`;
    expect(left).toHaveLength(0);
  });

  test('of an unknown meter is NOT_FOUND', async () => {
    await expect(readHistory(running.app, { organisationId: randomUUID() }, 'rockets', 5)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });

  test('adds up to what concurrent reservations around midnight counted', async () => {
    const target = { ...(await makeTarget(running)), meter: 'api_calls' };
    const clocks = ['2026-05-09T23:59:59.9', '2026-05-10T00:00:00.1'];
    await Promise.all(Array.from({ length: 60 }, (_, n) => take(at(clocks[n % 2] ?? ''), target)));
    const days = await values(target, 'api_calls', 2, '2026-05-10T01:00');
    expect(days.reduce((sum, used) => sum + used, 0)).toBe(60);
  });
});

test('the history of all meters, by one statement, is that of each meter', async () => {
  // Both reads are of the same day.
  running.stopClock();
  const today = running.app.now().getTime();
  const [target, other] = [await makeTarget(running), await makeTarget(running)];
  for (const [daysAgo, amount] of [
    [40, 2],
    [10, 1],
    [3, 5],
    [0, 4],
  ] as const) {
    const app = { ...running.app, now: () => new Date(today - daysAgo * dayMilliseconds) };
    for (const each of [target, other]) await take({ app }, { ...each, meter: 'api_calls', amount });
    await setGauge(app, target, 'projects', { used: amount });
  }
  const { api } = await addMember(running, target.organisationId, 'viewer');
  const { history: recent } = await api.subscription.overviewWithHistory();
  expect(recent.map(({ meter }) => meter)).toEqual(running.app.plans.meters.map(({ meter }) => meter));
  const { organisationId: organisation } = target;
  expect(recent).toEqual(await Promise.all(recent.map(({ meter }) => api.usage.read({ organisation, meter }))));
  expect(recent.find(({ meter }) => meter === 'projects')?.days[0]?.used).toBe(2);
});

test('days are 1 to 400, 30 without a value', () => {
  expect(usageDaysInput.parse(undefined)).toBe(30);
  expect(usageDaysInput.parse('400')).toBe(400);
  for (const wrong of ['0', '401', '1.5', 'x', '']) expect(usageDaysInput.safeParse(wrong).success).toBe(false);
});
