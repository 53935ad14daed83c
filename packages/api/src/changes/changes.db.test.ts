import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changes as feedRows } from '../platform/db/schema/changes.ts';
import { dayMilliseconds } from '../platform/durations.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { startAwakeClock } from '../testing/awake-clock.ts';
import { makeOwner, makeSignUp } from '../testing/factories.ts';
import { deleteOldChanges } from './delete-old.ts';
import { type Change, changesInput, readChanges } from './read-changes.ts';
import { recordChange } from './record-change.ts';
import { createChangeSignal } from './signal.ts';

let running: TestApp;
beforeAll(async () => {
  running = await startTestApp();
});
afterAll(() => running.close());

const everything = { reads: 'deployment' } as const;
const read = (after?: string, more: object = {}, reader: Parameters<typeof readChanges>[1] = everything) =>
  readChanges(running.app, reader, changesInput.parse({ after, ...more }), {
    callerId: 'test',
    mayStillRead: async () => true,
  });
const typesOf = async (organisationId: string, after = '0') => {
  const { changes } = await read(after, { limit: 1000 }, { reads: 'organisation', organisationId });
  return changes.map(({ type }) => type);
};

describe('the feed contains', () => {
  test('an organisation and its owner when the e-mail gate opens, not before', async () => {
    const { next } = await read();
    await makeSignUp(running);
    expect((await read(next)).changes).toEqual([]);
    const { organisationId, userId } = await makeOwner(running, { approved: false });
    const { changes } = await read(next);
    expect(changes.map(({ type, organisation, user }) => [type, organisation, user])).toEqual([
      ['organisation.created', organisationId, null],
      ['member.joined', organisationId, userId],
    ]);
    expect(JSON.stringify(changes)).not.toContain('@');
  });

  test('a deleted account before the organisation that ends with it', async () => {
    const { organisationId, api } = await makeOwner(running);
    await api.leaving.deleteAccount({ password: 'a long enough pass phrase' });
    expect((await typesOf(organisationId)).slice(-3)).toEqual(['user.deleted', 'member.left', 'organisation.deleted']);
  });

  test('nothing that was rolled back', async () => {
    const { organisationId } = await makeOwner(running);
    const before = await typesOf(organisationId);
    const failed = running.app.db.transaction(async (tx) => {
      await recordChange(tx, new Date(), { type: 'organisation.suspended', organisationId });
      throw new Error('rolled back');
    });
    await expect(failed).rejects.toThrow('rolled back');
    expect(await typesOf(organisationId)).toEqual(before);
  });
});

test('of concurrent changes of one organisation the last one told is the one that is stored', async () => {
  const { organisationId: organisation_id, api } = await makeOwner(running);
  const names = Array.from({ length: 10 }, (_, number) => `Name ${number}`);
  await Promise.all(names.map((name) => api.organisations.rename({ organisation_id, name })));

  const reader = { reads: 'organisation', organisationId: organisation_id } as const;
  const { changes } = await read('0', {}, reader);
  const told = changes.filter(({ type }) => type === 'organisation.renamed').map(({ data }) => data.name);
  expect(told.toSorted()).toEqual(names);
  expect(told.at(-1)).toBe((await api.organisations.read()).name);
});

test('readers at any speed see each change once, in one order, while writers commit in random order', async () => {
  const { app } = running;
  const start = (await read()).next;
  const written = new Map<number, number[]>();
  let writing = true;
  const plans = fc.sample(
    fc.array(
      fc.record({
        changes: fc.integer({ min: 1, max: 3 }),
        pause: fc.integer({ min: 0, max: 30 }),
        fails: fc.boolean(),
      }),
      {
        minLength: 8,
        maxLength: 8,
      },
    ),
    6,
  );
  let number = 0;
  async function writer(plan: (typeof plans)[number], name: number) {
    const own: number[] = [];
    written.set(name, own);
    for (const { changes, pause, fails } of plan) {
      const made: number[] = [];
      const done = app.db.transaction(async (tx) => {
        for (let n = 0; n < changes; n++) {
          made.push(++number);
          await tx
            .insert(feedRows)
            .values({ at: new Date(), type: 'test', data: { number: String(number), name: String(name) } });
          await new Promise((resolve) => setTimeout(resolve, pause / changes));
        }
        if (fails) throw new Error('rolled back');
      });
      await done.then(
        () => own.push(...made),
        () => {},
      );
    }
  }
  async function reader(limit: number, pause: number): Promise<Change[]> {
    const seen: Change[] = [];
    let after = start;
    for (;;) {
      const last = !writing;
      const { changes, next } = await read(after, { limit });
      seen.push(...changes);
      after = next;
      if (last && changes.length === 0) return seen;
      if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
  const readers = [reader(1, 0), reader(3, 15), reader(100, 40), reader(1000, 0)];
  await Promise.all(plans.map(writer));
  writing = false;
  const [first = [], ...others] = (await Promise.all(readers)).map((seen) =>
    seen.filter(({ type }) => (type as string) === 'test'),
  );
  for (const other of others) expect(other).toEqual(first);
  expect(new Set(first.map(({ cursor }) => cursor)).size).toBe(first.length);
  for (const [name, own] of written) {
    const seen = first.filter(({ data }) => data.name === String(name)).map(({ data }) => Number(data.number));
    expect(seen).toEqual(own);
  }
});

test('a change that saw another one’s commit follows it, although its transaction began first', async () => {
  const { app } = running;
  const { next } = await read();
  const row = (type: string) => ({ at: new Date(), type });
  await app.db.transaction(async (early) => {
    await early.execute('select pg_current_xact_id()');
    await app.db.insert(feedRows).values(row('cause'));
    await early.insert(feedRows).values(row('effect'));
  });
  expect((await read(next)).changes.map(({ type }) => type)).toEqual(['cause', 'effect']);
});

describe('a reader', () => {
  test('waits for a change, and others wait beside it without a connection', async () => {
    const { next } = await read();
    const waiting = Array.from({ length: 50 }, () => read(next, { wait: 20 }));
    setTimeout(() => running.app.db.insert(feedRows).values({ at: new Date(), type: 'late' }).execute(), 200);
    for (const { changes } of await Promise.all(waiting)) expect(changes.map(({ type }) => type)).toEqual(['late']);
  });

  test('gets an empty answer at its deadline, and at once when the process ends', async () => {
    const { next } = await read();
    expect(await read(next, { wait: 1 })).toEqual({ changes: [], next });
    const signal = createChangeSignal(running.app.sql, running.app.log);
    const app = { ...running.app, changes: signal };
    const awake = startAwakeClock();
    const poll = readChanges(app, everything, changesInput.parse({ after: next, wait: 30 }), {
      callerId: 'test',
      mayStillRead: async () => true,
    });
    setTimeout(() => signal.stop(), 100);
    expect(await poll).toEqual({ changes: [], next });
    expect(awake()).toBeLessThan(15_000);
  });

  test('with a wrong cursor, or one beyond the end, is refused', async () => {
    const { next } = await read();
    const [deployment, position] = Buffer.from(next, 'base64url').toString().split(':');
    const cursor = (text: string) => Buffer.from(text).toString('base64url');
    const wrong = [
      '1',
      'x',
      `${next}=`,
      cursor(`${deployment}:${Number(position) + 1}`),
      cursor(`00000000-0000-4000-8000-000000000000:${position}`),
      cursor(`${deployment}:-1`),
    ];
    for (const after of wrong) await expect(read(after)).rejects.toMatchObject({ code: 'VALIDATION' });
  });

  test('after 30 days gets the oldest cursor', async () => {
    const old = (await read()).next;
    await running.app.db.insert(feedRows).values({ at: new Date(Date.now() - 31 * dayMilliseconds), type: 'old' });
    // No reader came in between: the deletion assigns the change its position.
    await deleteOldChanges({ ...running.app, now: () => new Date(Date.now() + 31 * dayMilliseconds) });
    const gone = await read(old).catch((error: unknown) => error);
    expect(gone).toMatchObject({ code: 'GONE' });
    const { oldest } = (gone as { facts: { oldest: string } }).facts;
    await running.app.db.insert(feedRows).values({ at: new Date(), type: 'kept' });
    expect((await read(oldest)).changes.map(({ type }) => type)).toEqual(['kept']);
    expect((await read('0')).changes.map(({ type }) => type)).toEqual(['kept']);
  });

  test('gets at most 60 seconds and 1,000 changes, whatever it asks for', () => {
    expect(changesInput.parse({ wait: '600', limit: '5000' })).toEqual({ wait: 60, limit: 1000 });
    expect(changesInput.parse({ wait: '9'.repeat(400) })).toEqual({ wait: 60, limit: 100 });
    for (const wrong of [
      { wait: -1 },
      { limit: 0 },
      { limit: 'x' },
      { wait: 1.5 },
      { wait: '1e9' },
      { limit: '0x9999' },
    ]) {
      expect(changesInput.safeParse(wrong).success).toBe(false);
    }
  });
});
