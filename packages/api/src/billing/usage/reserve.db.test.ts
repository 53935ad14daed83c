import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '../../app.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { makeMember } from '../../testing/billing.ts';
import { decideNow, givePlan } from '../../testing/factories.ts';
import { giveBack, makeTarget, take } from '../../testing/usage.ts';
import { readSubscription } from '../summary/read-subscription.ts';
import { deleteExpiredKeys, usageRequestInput } from './usage-input.ts';

let running: TestApp;
beforeAll(async () => {
  running = await startTestApp({ work: false });
});
afterAll(() => running.close());

const settled = (asked: Promise<unknown>[]) => Promise.allSettled(asked);
const count = (results: PromiseSettledResult<unknown>[]) =>
  results.filter(({ status }) => status === 'fulfilled').length;
const withLimit = (limit: number | null): TestApp => {
  const [free, ...paid] = running.app.plans.tiers;
  const tiers: App['plans']['tiers'] = [{ ...free, limits: { ...free.limits, projects: limit } }, ...paid] as never;
  return { ...running, app: { ...running.app, plans: { ...running.app.plans, tiers } } };
};

describe('concurrent reservations', () => {
  test('of 1,000 on a limit of 100 leave exactly 100', async () => {
    const limited = withLimit(100);
    const target = await makeTarget(running);
    const results = await settled(Array.from({ length: 1000 }, () => take(limited, target)));
    expect(count(results)).toBe(100);
    for (const result of results) {
      if (result.status === 'rejected')
        expect(result.reason).toMatchObject({ code: 'LIMIT_REACHED', facts: { used: 100 } });
    }
    const answers = results.flatMap((result) =>
      result.status === 'fulfilled' ? [(result.value as { used: number }).used] : [],
    );
    expect(answers.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, at) => at + 1));
  });

  test('with one key count once and all get the same answer', async () => {
    const target = await makeTarget(running);
    const answers = await Promise.all(Array.from({ length: 30 }, () => take(running, { ...target, key: 'one' })));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(await take(running, target)).toMatchObject({ used: 2 });
  });

  test('and releases of any amounts leave what a sequence of them could leave', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: -4, max: 4 }), { minLength: 1, maxLength: 25 }), async (steps) => {
        const limited = withLimit(10);
        const target = await makeTarget(running);
        const asked = steps.filter((step) => step !== 0);
        const results = await settled(
          asked.map((step) =>
            step > 0 ? take(limited, { ...target, amount: step }) : giveBack(limited, { ...target, amount: -step }),
          ),
        );
        const { used } = await giveBack(limited, { ...target, amount: 1_000_000 }).then(() => take(limited, target));
        expect(used).toBe(1);
        for (const [at, step] of asked.entries()) if (step < 0) expect(results[at]?.status).toBe('fulfilled');
        for (const result of results) {
          if (result.status !== 'fulfilled') continue;
          const { used: then } = result.value as { used: number };
          expect(then).toBeGreaterThanOrEqual(0);
          expect(then).toBeLessThanOrEqual(10);
        }
      }),
      { numRuns: 15 },
    );
  });
});

describe('a reservation', () => {
  test('returns the meter, what is used, the limit and when it resets', async () => {
    const target = await makeTarget(running);
    expect(await take(running, { ...target, amount: 2 })).toEqual({
      meter: 'projects',
      used: 2,
      limit: 3,
      resets_at: null,
    });
    expect(await take(running, { ...target, meter: 'api_calls', amount: 5 })).toEqual({
      meter: 'api_calls',
      used: 5,
      limit: 1000,
      resets_at: expect.stringMatching(/-01T00:00:00\.000Z$/),
    });
  });

  test('above the limit is refused with a sentence, the use and the tiers that allow it', async () => {
    const target = await makeTarget(running);
    await take(running, target);
    await expect(take(running, { ...target, amount: 3 })).rejects.toMatchObject({
      code: 'LIMIT_REACHED',
      message: 'The Free plan allows 3 projects.',
      facts: { meter: 'projects', used: 1, limit: 3, allowed_by: ['silver', 'gold'] },
    });
    await expect(take(running, { ...target, amount: 100 })).rejects.toMatchObject({ facts: { allowed_by: ['gold'] } });
    await expect(take(running, { ...target, amount: 201 })).rejects.toMatchObject({ facts: { allowed_by: [] } });
    await expect(take(running, { ...target, meter: 'api_calls', amount: 1001 })).rejects.toThrow(
      'The Free plan allows 1,000 API calls a month.',
    );
  });

  test('follows a change of the plan at once, and keeps usage above a lowered limit', async () => {
    const target = await makeTarget(running);
    await expect(take(running, { ...target, amount: 20 })).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    await givePlan(running, target.organisationId, 'silver');
    expect(await take(running, { ...target, amount: 20 })).toMatchObject({ used: 20, limit: 25 });
    await running.app.sql`delete from payment_subscriptions where organisation_id = ${target.organisationId}`;
    await decideNow(running.app, target.organisationId);
    await expect(take(running, target)).rejects.toMatchObject({ facts: { used: 20, limit: 3 } });
    expect(await giveBack(running, { ...target, amount: 10 })).toMatchObject({ used: 10, limit: 3 });
  });

  test('never exceeds 2^53 − 1 on a meter without a limit', async () => {
    const unlimited = withLimit(null);
    const target = await makeTarget(running);
    await take(unlimited, target);
    await running.app
      .sql`update usage set used = ${Number.MAX_SAFE_INTEGER - 1} where organisation_id = ${target.organisationId}`;
    await expect(take(unlimited, { ...target, amount: 2 })).rejects.toMatchObject({ code: 'VALIDATION' });
    expect(await take(unlimited, target)).toMatchObject({ used: Number.MAX_SAFE_INTEGER, limit: null });
  });

  test('of an unknown meter, of members or for an unknown organisation is refused', async () => {
    const target = await makeTarget(running);
    await expect(take(running, { ...target, meter: 'rockets' })).rejects.toMatchObject({ code: 'VALIDATION' });
    await expect(take(running, { ...target, meter: 'members' })).rejects.toMatchObject({ code: 'VALIDATION' });
    await expect(take(running, { organisationId: randomUUID() })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('is shown in the subscription summary', async () => {
    const principal = await makeMember(running);
    await take(running, { ...principal, amount: 2 });
    const { usage } = await readSubscription(running.app, principal);
    expect(usage.find(({ meter }) => meter === 'projects')).toMatchObject({ used: 2, limit: 3 });
  });
});

describe('an idempotency key', () => {
  test('that is repeated gets the first answer, also after other use and a change of plan', async () => {
    const target = await makeTarget(running);
    const first = await take(running, { ...target, key: 'a' });
    await take(running, target);
    await givePlan(running, target.organisationId, 'gold');
    expect(await take(running, { ...target, key: 'a' })).toEqual(first);
    expect(await take(running, target)).toMatchObject({ used: 3 });
  });

  test('of a refusal gets the same refusal, also when there is room', async () => {
    const target = await makeTarget(running);
    await take(running, { ...target, amount: 3 });
    const refused = await take(running, { ...target, key: 'b' }).catch((error: unknown) => error);
    await giveBack(running, { ...target, amount: 3 });
    const again = await take(running, { ...target, key: 'b' }).catch((error: unknown) => error);
    expect(again).toEqual(refused);
    expect(refused).toMatchObject({ code: 'LIMIT_REACHED', facts: { used: 3, limit: 3 } });
  });

  test('with another amount or operation is a conflict, and counts nothing', async () => {
    const target = await makeTarget(running);
    await take(running, { ...target, key: 'c' });
    await expect(take(running, { ...target, key: 'c', amount: 2 })).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(giveBack(running, { ...target, key: 'c' })).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await take(running, target)).toMatchObject({ used: 2 });
  });

  test('belongs to one organisation and meter', async () => {
    const [one, other] = [await makeTarget(running), await makeTarget(running)];
    await take(running, { ...one, key: 'd' });
    expect(await take(running, { ...other, key: 'd' })).toMatchObject({ used: 1 });
    expect(await take(running, { ...one, key: 'd', meter: 'api_calls' })).toMatchObject({ used: 1 });
  });

  test('expires after 48 hours, is then deleted, and can be used again even before its deletion', async () => {
    const target = await makeTarget(running);
    const at = (hours: number) => ({ app: { ...running.app, now: () => new Date(Date.now() + hours * 3_600_000) } });
    await take(running, { ...target, key: 'e' });
    expect(await take(at(47.9), { ...target, key: 'e' })).toMatchObject({ used: 1 });
    expect(await take(at(48.1), { ...target, key: 'e' })).toMatchObject({ used: 2 });
    await take(running, { ...target, key: 'f' });
    await deleteExpiredKeys(at(48.05).app);
    const keys = await running.app.sql`select key from usage_requests where organisation_id = ${target.organisationId}`;
    expect(keys.map(({ key }) => key)).toEqual(['e']);
  });
});

describe('a release', () => {
  test('never goes below zero, also on a meter that was never used', async () => {
    const target = await makeTarget(running);
    expect(await giveBack(running, { ...target, amount: 5 })).toMatchObject({ used: 0 });
    await take(running, { ...target, amount: 2 });
    expect(await giveBack(running, { ...target, amount: 5 })).toEqual({
      meter: 'projects',
      used: 0,
      limit: 3,
      resets_at: null,
    });
  });

  test('of a counter is refused', async () => {
    const target = await makeTarget(running);
    await expect(giveBack(running, { ...target, meter: 'api_calls' })).rejects.toMatchObject({ code: 'VALIDATION' });
  });
});

test.each([0, -1, 1.5, 1_000_000_001, '1', null])('an amount of %s is invalid', (amount) => {
  expect(usageRequestInput.safeParse({ meter: 'projects', amount, idempotency_key: 'k' }).success).toBe(false);
});

test.each(['', 'k'.repeat(129), 'a\0b', '\ud800', 7, undefined])('an idempotency key %j is invalid', (key) => {
  expect(usageRequestInput.safeParse({ meter: 'projects', idempotency_key: key }).success).toBe(false);
});

test('an absent amount equals 1', () => {
  expect(usageRequestInput.parse({ meter: 'projects', idempotency_key: 'k' }).amount).toBe(1);
});
