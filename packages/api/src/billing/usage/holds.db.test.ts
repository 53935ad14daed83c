import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { App } from '../../app.ts';
import type { WritingKey } from '../../auth/principal.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { makeKey } from '../../testing/keys.ts';
import { giveBack, hold, makeTarget, take } from '../../testing/usage.ts';
import { correctUsage } from './correct-usage.ts';
import { endHold, sweepHolds } from './holds.ts';
import { readHistory } from './read-history.ts';
import { setGauge } from './set-gauge.ts';

let test: TestApp;
let deployment: WritingKey;
beforeAll(async () => {
  test = await startTestApp({ work: false });
  deployment = (await makeKey(test)).principal as WritingKey;
});
afterAll(() => test.close());

type Target = { organisationId: string };
const start = Date.parse('2026-05-20T12:00:00Z');
/** The service, so many seconds after noon, with a limit of the free plan's projects. */
const at = (seconds: number, limit: number | null = 10) => {
  const [free, ...paid] = test.app.plans.tiers;
  const tiers = [{ ...free, limits: { ...free.limits, projects: limit } }, ...paid] as App['plans']['tiers'];
  const now = () => new Date(start + seconds * 1000);
  return { app: { ...test.app, plans: { ...test.app.plans, tiers }, now } };
};
const commit = (id: string, { app } = at(0)) => endHold(app, deployment, { hold: id }, 'committed');
const release = (id: string, { app } = at(0)) => endHold(app, deployment, { hold: id }, 'released');
/** What is used of projects, by a reading that changes nothing. */
const used = async ({ app }: { app: App }, target: Target, meter = 'projects') =>
  (await readHistory(app, target, meter, 1)).days[0]?.used;

describe('a hold', () => {
  it('counts until it is released, and for good once it is committed', async () => {
    const target = await makeTarget(test);
    const [one, other] = [await hold(at(0), target), await hold(at(0), { ...target, amount: 4 })];
    expect([one.used, other.used]).toEqual([1, 5]);
    expect(await release(other.id)).toEqual({ meter: 'projects', used: 1, limit: 10, resets_at: null });
    expect(await commit(one.id)).toMatchObject({ used: 1 });
    expect(await used(at(3600), target)).toBe(1);
  });

  it('counts in no answer once its end has passed, whether a job noticed or not', async () => {
    const target = await makeTarget(test);
    const made = await hold(at(0), { ...target, amount: 10, expires: 60 });
    await expect(take(at(59.9), target)).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    expect(await used(at(59.9), target)).toBe(10);
    expect(await used(at(60), target)).toBe(0);
    expect(await setGauge(at(60).app, target, 'projects', { used: 2 })).toMatchObject({ used: 2 });
    expect(await take(at(60), { ...target, amount: 8 })).toMatchObject({ used: 10 });
    await expect(commit(made.id, at(60))).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'This hold has expired.',
    });
  });

  it('is answered the same end again, and the other end and an expired one with CONFLICT', async () => {
    const target = await makeTarget(test);
    const [one, other, late] = await Promise.all([1, 2, 3].map(() => hold(at(0), target)));
    await commit(one?.id ?? '');
    await release(other?.id ?? '');
    // Also long after its end, and after the sweep.
    for (const time of [at(1), at(3600)]) {
      expect(await commit(one?.id ?? '', time)).toMatchObject({ meter: 'projects' });
      expect(await release(other?.id ?? '', time)).toMatchObject({ meter: 'projects' });
      await expect(release(one?.id ?? '', time)).rejects.toMatchObject({ code: 'CONFLICT' });
      await expect(commit(other?.id ?? '', time)).rejects.toMatchObject({ code: 'CONFLICT' });
      await sweepHolds(at(3600).app);
    }
    await expect(release(late?.id ?? '', at(3600))).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await used(at(3600), target)).toBe(1);
    await sweepHolds(at(60 + 48 * 3600).app);
    await expect(commit(one?.id ?? '')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it.each(['unknown', '', '019ad6d2-5c00-7b1e-8f0a-2f6f1d0c9a11'])('that is %j is NOT_FOUND', async (id) => {
    await expect(commit(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('with one idempotency key is made once; with another end the key is a conflict', async () => {
    const target = { ...(await makeTarget(test)), key: 'one' };
    const answers = await Promise.all(Array.from({ length: 20 }, () => hold(at(0), target)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    await expect(hold(at(0), { ...target, expires: 61 })).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(take(at(0), target)).rejects.toMatchObject({ code: 'CONFLICT' });
    await release(answers[0]?.id ?? '');
    expect(await hold(at(0), target)).toEqual(answers[0]);
    expect(await used(at(0), target)).toBe(0);
  });

  it('is never given back by a release without a hold', async () => {
    const target = await makeTarget(test);
    await take(at(0), { ...target, amount: 2 });
    await hold(at(0), { ...target, amount: 3 });
    expect(await giveBack(at(0), { ...target, amount: 100 })).toMatchObject({ used: 3 });
    const own = { ...target, by: 'administrators' as const };
    const { id } = await hold(at(0), { ...own, amount: 2 });
    expect(await giveBack(at(0), { ...own, amount: 100 })).toMatchObject({ used: 5 });
    await commit(id);
    expect(await giveBack(at(0), { ...own, amount: 100 })).toMatchObject({ used: 3 });
  });

  it('comes on top of a value that is stated, and a commit is newer than one that was read before', async () => {
    const target = await makeTarget(test);
    const { id } = await hold(at(0), { ...target, amount: 3 });
    expect(await setGauge(at(5).app, target, 'projects', { used: 5, at: at(1).app.now() })).toMatchObject({ used: 8 });
    await correctUsage(
      at(5).app,
      { ...target, meter: 'projects', used: 1, reason: 'Counted twice.' },
      { actorId: null },
    );
    expect(await used(at(5), target)).toBe(4);
    await commit(id, at(10));
    const older = { used: 1, at: at(9).app.now() };
    expect(await setGauge(at(11).app, target, 'projects', older)).toMatchObject({ used: 4, superseded: true });
    const most = { used: Number.MAX_SAFE_INTEGER };
    await hold(at(12), target);
    await expect(setGauge(at(12).app, target, 'projects', most)).rejects.toMatchObject({ code: 'VALIDATION' });
  });

  it('belongs to the period and the day in which it was made', async () => {
    const target = { ...(await makeTarget(test)), meter: 'api_calls' };
    const lastDay = (text: string) => ({ app: { ...test.app, now: () => new Date(text) } });
    const evening = lastDay('2026-05-31T23:00:00Z');
    const morning = lastDay('2026-06-01T01:00:00Z');
    const [kept, back] = [
      await hold(evening, { ...target, amount: 5, expires: 86_400 }),
      await hold(evening, { ...target, amount: 7, expires: 86_400 }),
    ];
    const gauge = await hold(evening, { ...target, meter: 'projects', expires: 86_400 });
    await take(morning, { ...target, amount: 2 });
    await take(morning, { ...target, meter: 'projects' });
    const days = async (meter: string) =>
      (await readHistory(morning.app, target, meter, 3)).days.map((day) => day.used);
    expect(await days('api_calls')).toEqual([0, 12, 2]);
    expect(await days('projects')).toEqual([0, 1, 2]);
    // The answer is of the present period.
    expect(await commit(kept.id, morning)).toMatchObject({ used: 2, resets_at: '2026-07-01T00:00:00.000Z' });
    await release(back.id, morning);
    await commit(gauge.id, morning);
    expect(await days('api_calls')).toEqual([0, 5, 2]);
    expect(await days('projects')).toEqual([0, 1, 2]);
    expect(await take(evening, target)).toMatchObject({ used: 6 });
  });
});

describe('a key', () => {
  it('of an organisation ends what a key of that organisation made, one of the deployment everything', async () => {
    const [{ organisationId }, other] = [await makeTarget(test), await makeTarget(test)];
    const keyOf = async (target: Target, byOperator: boolean) =>
      (await makeKey(test, { ...target, byOperator })).principal as WritingKey;
    const own = await keyOf({ organisationId }, false);
    const operators = await keyOf({ organisationId }, true);
    const strangers = await keyOf(other, true);
    const { app } = test;
    const make = async (by: 'administrators' | 'operator' | 'deployment') =>
      (await hold(test, { organisationId, meter: 'api_calls', by })).id;

    const ofDeployment = await make('deployment');
    for (const key of [own, operators, strangers]) {
      const asked = endHold(app, key, { hold: ofDeployment }, 'released');
      await expect(asked).rejects.toMatchObject({ code: 'FORBIDDEN' });
    }
    for (const by of ['administrators', 'operator'] as const) {
      const hold = await make(by);
      await expect(endHold(app, strangers, { hold }, 'released')).rejects.toMatchObject({ code: 'FORBIDDEN' });
      expect(await endHold(app, by === 'operator' ? own : operators, { hold }, 'committed')).toBeTruthy();
      expect(await endHold(app, deployment, { hold: await make(by) }, 'released')).toBeTruthy();
    }
    // Two that were committed, and the deployment's own, which is open.
    expect(await used(test, { organisationId }, 'api_calls')).toBe(3);
  });

  it('ends nothing of an organisation that was suspended meanwhile', async () => {
    const target = await makeTarget(test);
    const { id } = await hold(test, target);
    await test.app.sql`update organisations set suspended_at = now() where id = ${target.organisationId}`;
    await expect(endHold(test.app, deployment, { hold: id }, 'committed')).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });
});

describe('in parallel', () => {
  it('holds and reservations never exceed the limit, also while others expire', async () => {
    const target = await makeTarget(test);
    for (let n = 0; n < 10; n += 1) await hold(at(n), { ...target, expires: 10 });
    // Five of the ten have expired at this time.
    const asked = Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? take : hold)(at(14), target));
    const granted = (await Promise.allSettled(asked)).filter(({ status }) => status === 'fulfilled');
    expect(granted).toHaveLength(5);
    expect(await used(at(14), target)).toBe(10);
  });

  it('of commits and releases of one hold one kind succeeds', async () => {
    const target = await makeTarget(test);
    const { id } = await hold(at(0), { ...target, amount: 3 });
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, (_, n) => (n % 2 === 0 ? commit(id) : release(id))),
    );
    const won = results.map(({ status }, n) => (status === 'fulfilled' ? n % 2 : null)).filter((each) => each !== null);
    expect(won).toHaveLength(25);
    expect(new Set(won).size).toBe(1);
    expect(await used(at(0), target)).toBe(won[0] === 0 ? 3 : 0);
  });

  it('an organisation has 10,000 open holds', async () => {
    const limited = await startTestApp({ work: false, environment: { RATE_LIMITS: 'on' } });
    limited.stopClock();
    const target = { ...(await makeTarget(limited)), meter: 'api_calls' };
    const { id } = await hold(limited, target);
    await limited.app.sql`
      insert into usage_holds (id, organisation_id, meter, since, day, amount, is_own, ends_at)
      select gen_random_uuid(), organisation_id, meter, since, day, amount, is_own, ends_at + interval '1 minute'
      from usage_holds, generate_series(1, 9990)`;
    const asked = await Promise.allSettled(Array.from({ length: 30 }, () => hold(limited, target)));
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(9);
    const refused = { code: 'TOO_MANY', retryAfterSeconds: expect.any(Number) };
    for (const each of asked) if (each.status === 'rejected') expect(each.reason).toMatchObject(refused);
    const principal = (await makeKey(limited)).principal as WritingKey;
    await endHold(limited.app, principal, { hold: id }, 'released');
    await hold(limited, target);
    await expect(hold(limited, { ...target, meter: 'projects' })).rejects.toMatchObject(refused);
    // What has no end is no hold, and a hold that has expired is none either.
    await take(limited, { ...target, meter: 'projects' });
    limited.advance(60_000);
    await hold(limited, { ...target, meter: 'projects' });
    await limited.close();
  });
});

/** What a property test does to one meter, after so many seconds. */
type Step = { what: 'take' | 'give' | 'hold' | 'commit' | 'release' | 'set' | 'sweep'; amount: number; wait: number };
const step: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom('take', 'give', 'hold', 'hold', 'commit', 'release', 'set', 'sweep'),
  amount: fc.integer({ min: 1, max: 4 }),
  wait: fc.integer({ min: 0, max: 40 }),
});

it('any sequence leaves what a plain model of final amounts and open holds leaves', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const target = await makeTarget(test);
      const limit = 10;
      let [time, final] = [0, 0];
      const holds: { id: string; amount: number; ends: number; outcome: string | null }[] = [];
      const open = () => holds.filter(({ outcome, ends }) => outcome === null && ends > time);
      const total = () => open().reduce((sum, { amount }) => sum + amount, final);

      for (const { what, amount, wait } of steps) {
        time += wait;
        const now = at(time, limit);
        const chosen = holds[amount % Math.max(1, holds.length)];
        if (what === 'take' || what === 'hold') {
          const fits = total() + amount <= limit;
          const asked = (what === 'take' ? take : hold)(now, {
            ...target,
            amount,
            ...(what === 'hold' && { expires: 60 }),
          });
          const answer = await asked.catch((error) => error);
          if (fits && what === 'take') final += amount;
          if (fits && what === 'hold') holds.push({ id: answer.id, amount, ends: time + 60, outcome: null });
          expect(answer).toMatchObject(fits ? { used: total() } : { code: 'LIMIT_REACHED', facts: { used: total() } });
        } else if (what === 'give') {
          final = Math.max(0, final - amount);
          expect(await giveBack(now, { ...target, amount })).toMatchObject({ used: total() });
        } else if (what === 'set') {
          final = amount;
          expect(await setGauge(now.app, target, 'projects', { used: amount })).toMatchObject({ used: total() });
        } else if (what === 'sweep') {
          await sweepHolds(now.app);
        } else if (chosen !== undefined) {
          const isOpen = open().includes(chosen);
          const answer = await (what === 'commit' ? commit : release)(chosen.id, now).catch((error) => error);
          if (isOpen) {
            chosen.outcome = what;
            if (what === 'commit') final += chosen.amount;
          }
          expect(answer).toMatchObject(chosen.outcome === what ? { used: total() } : { code: 'CONFLICT' });
        }
        expect(await used(now, target)).toBe(total());
      }
    }),
    { numRuns: 30 },
  );
});

it('holds, ends and reservations at once leave the sum of what was granted and not given back', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 4, maxLength: 24 }), async (kinds) => {
      const target = await makeTarget(test);
      const left = await Promise.allSettled(
        kinds.map(async (kind, n) => {
          const amount = (n % 3) + 1;
          if (kind === 0) return take(at(0, 20), { ...target, amount }).then(() => amount);
          const { id } = await hold(at(0, 20), { ...target, amount });
          if (kind === 1) await commit(id, at(0, 20));
          if (kind === 2) await release(id, at(0, 20));
          return kind === 2 ? 0 : amount;
        }),
      );
      const sum = left.reduce((total, each) => total + (each.status === 'fulfilled' ? each.value : 0), 0);
      expect(sum).toBeLessThanOrEqual(20);
      expect(await used(at(0, 20), target)).toBe(sum);
    }),
    { numRuns: 15 },
  );
});
