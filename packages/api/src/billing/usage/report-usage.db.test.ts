import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { makeTarget, take } from '../../testing/usage.ts';
import { readHistory } from './read-history.ts';
import { type OrganisationRecord, report } from './report-usage.ts';
import { usageRecordInput } from './usage-input.ts';

let running: TestApp;
beforeAll(async () => {
  running = await startTestApp({ work: false });
});
afterAll(() => running.close());

const noon = new Date('2026-05-20T12:00:00Z');
const appAt = (now: Date) => ({ ...running.app, now: () => now });
const at = (text: string) => new Date(`${text}Z`);

function record(target: { organisationId: string }, given: Partial<OrganisationRecord> = {}): OrganisationRecord {
  return { ...target, meter: 'api_calls', amount: 1, idempotency_key: randomUUID(), ...given };
}

/** Returns what is counted in the current period, read from the table so that nothing is added. */
async function counted(target: { organisationId: string }, now = noon): Promise<number> {
  const [row] = await running.app.sql`
    select used from usage where organisation_id = ${target.organisationId} and meter = 'api_calls'
      and since = ${`${now.toISOString().slice(0, 7)}-01T00:00:00Z`}`;
  return Number(row?.used ?? 0);
}

async function history(target: { organisationId: string }, days: number, now = noon) {
  const read = await readHistory(appAt(now), target, 'api_calls', days);
  return Object.fromEntries(read.days.filter(({ used }) => used > 0).map(({ date, used }) => [date, used]));
}

describe('a report', () => {
  test('counts also above the limit, of several organisations', async () => {
    const [one, other] = [await makeTarget(running), await makeTarget(running)];
    const answer = await report(appAt(noon), [
      record(one, { amount: 5000 }),
      record(other, { amount: 7 }),
      record(one),
    ]);
    expect(answer).toEqual({ accepted: 3, duplicates: 0 });
    expect([await counted(one), await counted(other)]).toEqual([5001, 7]);
    await expect(take({ app: appAt(noon) }, { ...one, meter: 'api_calls' })).rejects.toMatchObject({
      facts: { used: 5001, limit: 1000 },
    });
  });

  test('counts for a meter that follows the period of the subscription', async () => {
    const meters = running.app.plans.meters.map((meter) => ({ ...meter, resets: 'subscription_period' as const }));
    const app = { ...appAt(noon), plans: { ...running.app.plans, meters } };
    const target = await makeTarget(running);
    expect(await report(app, [record(target)])).toEqual({ accepted: 1, duplicates: 0 });
    expect(await counted(target)).toBe(1);
  });

  test('counts duplicates once, within the batch and of earlier batches', async () => {
    const target = await makeTarget(running);
    const [a, b] = [record(target), record(target)];
    expect(await report(appAt(noon), [a, a, b])).toEqual({ accepted: 2, duplicates: 1 });
    expect(await report(appAt(noon), [b, a, record(target)])).toEqual({ accepted: 1, duplicates: 2 });
    expect(await counted(target)).toBe(3);
  });

  test('with a conflict counts nothing', async () => {
    const target = await makeTarget(running);
    const first = record(target);
    await report(appAt(noon), [first]);
    for (const other of [{ amount: 2 }, { at: noon }]) {
      const batch = [record(target), { ...first, ...other }];
      const fields = { 'records.1.idempotency_key': expect.any(String) };
      await expect(report(appAt(noon), batch)).rejects.toMatchObject({ code: 'CONFLICT', fields });
    }
    const twice = record(target);
    await expect(report(appAt(noon), [twice, { ...twice, amount: 9 }])).rejects.toMatchObject({
      code: 'CONFLICT',
      fields: { 'records.1.idempotency_key': expect.any(String) },
    });
    await take({ app: appAt(noon) }, { ...target, meter: 'api_calls', key: 'taken' });
    await expect(report(appAt(noon), [record(target, { idempotency_key: 'taken' })])).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    expect(await counted(target)).toBe(2);
  });

  test.each<[string, Partial<OrganisationRecord>, string]>([
    ['an unknown meter', { meter: 'rockets' }, 'records.1.meter'],
    ['a gauge', { meter: 'projects' }, 'records.1.meter'],
  ])('with %s counts nothing and names the field', async (_, wrong, field) => {
    const target = await makeTarget(running);
    const batch = [record(target), record(target, wrong)];
    const failure = await report(appAt(noon), batch).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'VALIDATION', fields: { [field]: expect.any(String) } });
    expect(await counted(target)).toBe(0);
  });

  test('for a deleted organisation is refused as a whole', async () => {
    const target = await makeTarget(running);
    const batch = [record(target), record({ organisationId: randomUUID() })];
    await expect(report(appAt(noon), batch)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await counted(target)).toBe(0);
  });

  test('of an earlier period counts in the history only', async () => {
    const target = await makeTarget(running);
    await report(appAt(noon), [
      record(target, { amount: 3, at: at('2026-04-30T23:59:59') }),
      record(target, { amount: 4, at: at('2026-05-01T00:00:00') }),
      record(target, { amount: 5, at: at('2026-05-20T00:00:00') }),
      record(target, { amount: 6 }),
    ]);
    expect(await counted(target)).toBe(15);
    expect(await history(target, 30)).toEqual({ '2026-04-30': 3, '2026-05-01': 4, '2026-05-20': 11 });
  });

  test('of the next minutes counts in the next period', async () => {
    const target = await makeTarget(running);
    const lastMinute = at('2026-05-31T23:58:00');
    await report(appAt(lastMinute), [record(target, { at: at('2026-06-01T00:01:00') }), record(target, { amount: 2 })]);
    expect([await counted(target, lastMinute), await counted(target, at('2026-06-01T00:00:00'))]).toEqual([2, 1]);
    const june = at('2026-06-01T10:00:00');
    await report(appAt(june), [record(target, { amount: 10 })]);
    expect(await history(target, 3, june)).toEqual({ '2026-05-31': 2, '2026-06-01': 11 });
  });

  test('in parallel batches that share keys counts each key once', async () => {
    const target = await makeTarget(running);
    const batches = fc.sample(
      fc.shuffledSubarray(
        Array.from({ length: 20 }, (_, at) => `k${at}`),
        { minLength: 5 },
      ),
      20,
    );
    const sent = batches.map((keys) =>
      report(
        appAt(noon),
        keys.map((key) => record(target, { idempotency_key: key })),
      ),
    );
    const answers = await Promise.all(sent);
    const keys = new Set(batches.flat()).size;
    expect(answers.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(keys);
    expect(await counted(target)).toBe(keys);
  });

  test('beside reservations with the same keys ends in an answer or a conflict', async () => {
    const target = await makeTarget(running);
    const app = appAt(noon);
    const keys = Array.from({ length: 15 }, (_, at) => `both${at}`);
    const results = await Promise.allSettled([
      ...keys.map((key) => take({ app }, { ...target, meter: 'api_calls', key })),
      ...keys.map((key) => report(app, [record(target), record(target, { idempotency_key: key })])),
    ]);
    const accepted = results.filter(({ status }, at) => status === 'fulfilled' && at >= keys.length).length;
    const taken = results.filter(({ status }, at) => status === 'fulfilled' && at < keys.length).length;
    expect(accepted + taken).toBe(keys.length);
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'CONFLICT' });
    expect(await counted(target)).toBe(taken + 2 * accepted);
  });
});

test.each(['2026-05-20', 'yesterday', 7, ''])('a record’s time %j is invalid', (value) => {
  const given = { meter: 'api_calls', amount: 1, idempotency_key: 'k', at: value };
  expect(usageRecordInput.safeParse(given).success).toBe(false);
});
