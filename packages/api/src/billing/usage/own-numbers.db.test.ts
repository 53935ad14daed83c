import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { addMember, makeOwner } from '../../testing/factories.ts';
import { makeKey } from '../../testing/keys.ts';
import { giveBack, makeTarget, take } from '../../testing/usage.ts';
import { correctUsage } from './correct-usage.ts';
import { setGauge } from './set-gauge.ts';

// What customers could do about the numbers by which their limits are judged.

let test: TestApp;
let limited: TestApp;
beforeAll(async () => {
  [test, limited] = await Promise.all([
    startTestApp({ work: false }),
    startTestApp({ work: false, environment: { RATE_LIMITS: 'on' } }),
  ]);
});
afterAll(() => Promise.all([test.close(), limited.close()]));

const key = () => ({ idempotency_key: randomUUID() });
const forbidden = { cause: { code: 'FORBIDDEN' } };

it.each(['owner', 'admin', 'member', 'viewer'] as const)('the session of a %s writes no usage', async (role) => {
  const owner = await makeOwner(test);
  const { api } = role === 'owner' ? owner : await addMember(test, owner.organisationId, role);
  const organisation = owner.organisationId;
  await expect(api.usage.reserve({ organisation, meter: 'projects', ...key() })).rejects.toMatchObject(forbidden);
  await expect(api.usage.release({ organisation, meter: 'projects', ...key() })).rejects.toMatchObject(forbidden);
  await expect(api.usage.set({ organisation, meter: 'projects', used: 0 })).rejects.toMatchObject(forbidden);
  await expect(
    api.usage.report({ records: [{ organisation, meter: 'api_calls', amount: 10, ...key() }] }),
  ).rejects.toMatchObject(forbidden);
  expect((await api.usage.read({ organisation, meter: 'projects' })).days).not.toEqual([]);
});

it('a key that administrators made reserves and releases, and neither reports nor states', async () => {
  const { organisationId: organisation, api } = await makeOwner(test);
  const made = await api.keys.create({ organisation_id: organisation, name: 'Worker', scope: 'WRITE' });
  expect(made.scopes).toContain('WRITE');
  const own = (await makeKey(test, { organisationId: organisation, byOperator: false })).api;
  await own.usage.reserve({ organisation, meter: 'projects', ...key() });
  await own.usage.release({ organisation, meter: 'projects', ...key() });
  await expect(own.usage.set({ organisation, meter: 'projects', used: 0 })).rejects.toMatchObject(forbidden);
  await expect(
    own.usage.report({ records: [{ organisation, meter: 'api_calls', amount: 10 ** 9, ...key() }] }),
  ).rejects.toMatchObject(forbidden);

  const operators = (await makeKey(test, { organisationId: organisation })).api;
  expect(await operators.usage.set({ organisation, meter: 'projects', used: 1 })).toMatchObject({ used: 1 });
});

describe('a release by a key that administrators made', () => {
  it('gives back what keys of the organisation reserved, whichever of them did, and no more', async () => {
    const target = await makeTarget(test);
    await take(test, { ...target, amount: 1, by: 'administrators' });
    await take(test, { ...target, amount: 1, by: 'operator' });
    await setGauge(test.app, target, 'projects', { used: 5 });
    expect(await giveBack(test, { ...target, amount: 100, by: 'administrators' })).toMatchObject({ used: 3 });
    expect(await giveBack(test, { ...target, amount: 100, by: 'administrators' })).toMatchObject({ used: 3 });
  });

  it('never gives back what the deployment reserved or stated', async () => {
    const target = await makeTarget(test);
    await take(test, { ...target, amount: 2 });
    expect(await giveBack(test, { ...target, amount: 1, by: 'administrators' })).toMatchObject({ used: 2 });
    await setGauge(test.app, target, 'projects', { used: 7 });
    expect(await giveBack(test, { ...target, amount: 7, by: 'administrators' })).toMatchObject({ used: 7 });
  });

  it.each([
    ['a stated value', (target: { organisationId: string }) => setGauge(test.app, target, 'projects', { used: 1 })],
    ['another release', (target: { organisationId: string }) => giveBack(test, { ...target, amount: 1 })],
    [
      'a correction',
      (target: { organisationId: string }) =>
        correctUsage(test.app, { ...target, meter: 'projects', used: 1, reason: 'Counted twice.' }, { actorId: null }),
    ],
  ])('is capped by %s', async (_what, lower) => {
    const target = await makeTarget(test);
    await take(test, { ...target, amount: 2, by: 'administrators' });
    await lower(target);
    await take(test, { ...target, amount: 1 });
    expect(await giveBack(test, { ...target, amount: 2, by: 'administrators' })).toMatchObject({ used: 1 });
  });
});

it('an operator corrects a counter and a gauge, and members never', async () => {
  const target = await makeTarget(test);
  await take(test, { ...target, meter: 'api_calls', amount: 3 });
  const correct = (meter: string, used: number) =>
    correctUsage(test.app, { ...target, meter, used, reason: 'Counted twice.' }, { actorId: null });
  expect(await correct('api_calls', 1)).toBe(3);
  expect(await take(test, { ...target, meter: 'api_calls' })).toMatchObject({ used: 2 });
  expect(await correct('projects', 2)).toBe(0);
  for (const [meter, used] of [
    ['members', 1],
    ['unknown', 1],
    ['projects', -1],
    ['projects', 1.5],
  ] as const) {
    await expect(correct(meter, used)).rejects.toMatchObject({ code: 'VALIDATION' });
  }
});

it('an organisation has 20,000 new idempotency keys in a clock hour', async () => {
  const target = await makeTarget(limited);
  const api = (await makeKey(limited)).api;
  limited.stopClock();
  const report = (records: number) =>
    api.usage.report({
      records: Array.from({ length: records }, () => {
        return { organisation: target.organisationId, meter: 'api_calls', amount: 1, ...key() };
      }),
    });
  const known = { ...target, meter: 'api_calls', key: 'known' };
  await take(limited, known);
  await Promise.all(Array.from({ length: 19 }, () => report(1000)));
  await report(999);

  const refused = { code: 'TOO_MANY', retryAfterSeconds: expect.any(Number) };
  await expect(take(limited, { ...target, meter: 'api_calls' })).rejects.toMatchObject(refused);
  await expect(report(1)).rejects.toMatchObject({ cause: refused });
  // A key that is known is no new one, and another organisation has its own number.
  expect(await take(limited, known)).toMatchObject({ meter: 'api_calls' });
  await take(limited, await makeTarget(limited));
  limited.advance(60 * 60_000);
  await take(limited, { ...target, meter: 'api_calls' }).catch((error) => expect(error.code).toBe('LIMIT_REACHED'));
});
