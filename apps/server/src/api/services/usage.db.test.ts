import { dayMilliseconds } from '@gatehouse/api/platform/durations';
import { startTestApp, type TestApp } from '@gatehouse/api/testing/app';
import { makeOwner } from '@gatehouse/api/testing/factories';
import { makeKey } from '@gatehouse/api/testing/keys';
import { makeTarget } from '@gatehouse/api/testing/usage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askRest } from '../testing/ask-rest.ts';

// The routes of the contract that count usage.

let test: TestApp;
let key: string;
let organisation: string;
beforeAll(async () => {
  test = await startTestApp();
  // A day begins at midnight: all that a test counts and reads is of one day.
  test.stopClock();
  key = (await makeKey(test)).key;
  organisation = (await makeTarget(test)).organisationId;
});
afterAll(() => test.close());

const fresh = async () => (await makeTarget(test)).organisationId;
/** A time so many milliseconds from now. */
const from = (milliseconds: number) => new Date(test.app.now().getTime() + milliseconds).toISOString();
const newKey = () => crypto.randomUUID();
const post = (name: 'reserve' | 'commit' | 'release' | 'report', body: unknown, by = key) =>
  askRest(test, 'POST', `/api/usage/${name}`, { key: by, body });
const put = (meter: string, body: unknown) => askRest(test, 'PUT', `/api/usage/${meter}`, { key, body });
const history = (meter: string, query: string) => askRest(test, 'GET', `/api/usage/${meter}?${query}`, { key });
const limitOf = (meter: string) => test.app.plans.tiers[0]?.limits[meter] ?? 0;
const statusAndCode = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code];

describe('POST /api/usage/reserve', () => {
  it('counts one unless an amount is given, and answers the use, the limit and the reset', async () => {
    const id = await fresh();
    const limit = limitOf('projects');
    const first = await post('reserve', { organisation: id, meter: 'projects', idempotency_key: 'a' });
    expect([first.status, first.body]).toEqual([200, { meter: 'projects', used: 1, limit, resets_at: null }]);
    const calls = await post('reserve', { organisation: id, meter: 'api_calls', amount: 7, idempotency_key: 'a' });
    expect(calls.body).toEqual({
      meter: 'api_calls',
      used: 7,
      limit: limitOf('api_calls'),
      resets_at: expect.stringMatching(/^\d{4}-\d\d-01T00:00:00\.000Z$/),
    });
  });

  it('refuses above the limit with what a page needs to explain it, also when repeated', async () => {
    const id = await fresh();
    const limit = limitOf('projects');
    const asked = { organisation: id, meter: 'projects', amount: limit + 1, idempotency_key: newKey() };
    const refused = await post('reserve', asked);
    expect([refused.status, refused.body]).toEqual([
      403,
      {
        error: expect.stringContaining(String(limit)),
        code: 'LIMIT_REACHED',
        meter: 'projects',
        used: 0,
        limit,
        allowed_by: ['silver', 'gold'],
      },
    ]);
    expect((await post('reserve', asked)).body).toEqual(refused.body);
  });

  it('answers the same key and content as the first time, and other content with 409', async () => {
    const made = await makeOwner(test);
    const { id = '', slug } = made.principal.organisation ?? {};
    const idempotency_key = newKey();
    const asked = { organisation: id, meter: 'projects', idempotency_key };
    const first = await post('reserve', asked);
    await post('reserve', { ...asked, idempotency_key: newKey() });
    expect((await post('reserve', { ...asked, organisation: slug, amount: 1 })).body).toEqual(first.body);
    expect(statusAndCode(await post('reserve', { ...asked, amount: 2 }))).toEqual([409, 'CONFLICT']);
    expect(statusAndCode(await post('release', asked))).toEqual([409, 'CONFLICT']);
  });

  it('grants as many of 40 parallel requests as the limit allows, and counts the same key once', async () => {
    const id = await fresh();
    const limit = limitOf('projects');
    const ask = (idempotency_key: string) => post('reserve', { organisation: id, meter: 'projects', idempotency_key });
    const same = await Promise.all(Array.from({ length: 20 }, () => ask('once')));
    expect(new Set(same.map(({ body }) => body.used))).toEqual(new Set([1]));
    const codes = (await Promise.all(Array.from({ length: 20 }, () => ask(newKey())))).map(({ status }) => status);
    expect(codes.filter((code) => code === 200)).toHaveLength(limit - 1);
    expect(codes.filter((code) => code === 403)).toHaveLength(21 - limit);
  });

  it.each([
    ['no organisation', { organisation: undefined }],
    ['an organisation that is no text', { organisation: 7 }],
    ['no meter', { meter: undefined }],
    ['an unknown meter', { meter: 'unknown' }],
    ['members', { meter: 'members' }],
    ['nothing', { amount: 0 }],
    ['a part', { amount: 1.5 }],
    ['too much', { amount: 1_000_000_001 }],
    ['a text', { amount: '1' }],
    ['no idempotency key', { idempotency_key: undefined }],
    ['an empty one', { idempotency_key: '' }],
    ['one of 129 characters', { idempotency_key: 'x'.repeat(129) }],
  ])('refuses %s with 400', async (_, change) => {
    const body = { organisation, meter: 'projects', idempotency_key: newKey(), ...change };
    expect(statusAndCode(await post('reserve', body))).toEqual([400, 'VALIDATION']);
  });
});

describe('POST /api/usage/release', () => {
  it('lowers a gauge, never below zero, and refuses a counter', async () => {
    const asked = { organisation: await fresh(), meter: 'projects' };
    await post('reserve', { ...asked, amount: 2, idempotency_key: newKey() });
    const released = await post('release', { ...asked, idempotency_key: newKey() });
    expect([released.status, released.body.used]).toEqual([200, 1]);
    const below = await post('release', { ...asked, amount: 9, idempotency_key: newKey() });
    expect([below.status, below.body.used]).toEqual([200, 0]);
    const counter = { ...asked, meter: 'api_calls', idempotency_key: newKey() };
    expect(statusAndCode(await post('release', counter))).toEqual([400, 'VALIDATION']);
  });
});

describe('a hold', () => {
  it('is answered by a reservation that expires, and ended by its id alone', async () => {
    const asked = { organisation: await fresh(), meter: 'api_calls', amount: 4, expires: 600 };
    const made = await post('reserve', { ...asked, idempotency_key: newKey() });
    const { hold, ...answer } = made.body;
    expect([made.status, hold, answer.used]).toEqual([200, expect.stringMatching(/^[0-9a-f-]{36}$/), 4]);
    const committed = await post('commit', { hold });
    expect([committed.status, committed.body]).toEqual([200, answer]);
    expect(statusAndCode(await post('release', { hold }))).toEqual([409, 'CONFLICT']);
    const other = await post('reserve', { ...asked, idempotency_key: newKey() });
    expect((await post('release', { hold: other.body.hold })).body).toEqual(answer);
    expect(statusAndCode(await post('commit', { hold: other.body.hold }))).toEqual([409, 'CONFLICT']);
  });

  it.each([0, 86_401, 1.5, '60', null])('with the end %j is refused with 400', async (expires) => {
    const body = { organisation, meter: 'projects', idempotency_key: newKey(), expires };
    expect((await post('reserve', body)).body).toMatchObject({
      code: 'VALIDATION',
      fields: { expires: expect.any(String) },
    });
  });

  it('that is unknown is 404, and one that is no text 400', async () => {
    for (const name of ['commit', 'release'] as const) {
      expect(statusAndCode(await post(name, { hold: newKey() }))).toEqual([404, 'NOT_FOUND']);
      expect((await post(name, { hold: 7 })).body).toMatchObject({
        code: 'VALIDATION',
        fields: { hold: expect.any(String) },
      });
    }
    expect(statusAndCode(await post('commit', {}))).toEqual([400, 'VALIDATION']);
  });
});

describe('a member of a body that is not known', () => {
  const known = () => ({ organisation, meter: 'projects', idempotency_key: newKey() });
  it.each([
    ['POST', 'reserve', () => ({ ...known(), expire: 60 }), 'expire'],
    ['POST', 'release', () => ({ ...known(), expires: 60 }), 'expires'],
    ['POST', 'release', () => ({ hold: newKey(), amount: 1 }), 'amount'],
    ['POST', 'commit', () => ({ hold: newKey(), meter: 'projects' }), 'meter'],
    ['POST', 'report', () => ({ records: [], record: 1 }), 'record'],
    ['POST', 'report', () => ({ records: [{ ...known(), meter: 'api_calls', amount: 1, on: 1 }] }), 'records.0.on'],
    ['PUT', 'projects', () => ({ organisation, used: 1, until: 2 }), 'until'],
  ] as const)('%s %s is refused with 400, which names it', async (method, path, body, field) => {
    const answer = await askRest(test, method, `/api/usage/${path}`, { key, body: body() });
    expect([answer.status, Object.keys(answer.body.fields ?? {})]).toEqual([400, [field]]);
  });
});

describe('POST /api/usage/report', () => {
  const record = (change: object = {}) => ({
    organisation,
    meter: 'api_calls',
    amount: 3,
    idempotency_key: newKey(),
    ...change,
  });

  it('counts a batch of several organisations, also above the limit, and each key once', async () => {
    const [one, other] = [await fresh(), await fresh()];
    const records = [
      record({ organisation: one, amount: limitOf('api_calls') + 5 }),
      record({ organisation: other, idempotency_key: 'twice' }),
      record({ organisation: other, idempotency_key: 'twice' }),
    ];
    expect((await post('report', { records })).body).toEqual({ accepted: 2, duplicates: 1 });
    expect((await post('report', { records })).body).toEqual({ accepted: 0, duplicates: 3 });
    const { days } = (await history('api_calls', `organisation=${one}&days=1`)).body;
    expect(days[0].used).toBe(limitOf('api_calls') + 5);
  });

  it('counts all or nothing: names an invalid record, answers a conflict with 409, an unknown organisation with 404', async () => {
    const id = await fresh();
    const good = record({ organisation: id });
    for (const [change, status, field] of [
      [{ amount: 0 }, 400, 'records.1.amount'],
      [{ meter: 'unknown' }, 400, 'records.1.meter'],
      [{ meter: 'projects' }, 400, 'records.1.meter'],
      [{ at: from(-36 * dayMilliseconds) }, 400, 'records.1.at'],
      [{ at: from(6 * 60_000) }, 400, 'records.1.at'],
      [{ organisation: 'unknown' }, 404, 'records.1.organisation'],
      // The body before the organisation, the organisation before the meter.
      [{ organisation: 'unknown', at: from(-36 * dayMilliseconds) }, 400, 'records.1.at'],
      [{ organisation: 'unknown', meter: 'unknown' }, 404, 'records.1.organisation'],
      [{ idempotency_key: good.idempotency_key, amount: 4, organisation: id }, 409, 'records.1.idempotency_key'],
    ] as const) {
      const answer = await post('report', { records: [good, record(change)] });
      expect([answer.status, Object.keys(answer.body.fields ?? {})]).toEqual([status, [field]]);
    }
    const { days } = (await history('api_calls', `organisation=${id}&days=1`)).body;
    expect(days[0].used).toBe(0);
  });

  it('accepts up to 1,000 records, and an empty list', async () => {
    const records = Array.from({ length: 1000 }, () => record());
    expect((await post('report', { records })).body).toEqual({ accepted: 1000, duplicates: 0 });
    expect(statusAndCode(await post('report', { records: [...records, record()] }))).toEqual([400, 'VALIDATION']);
    expect((await post('report', { records: [] })).body).toEqual({ accepted: 0, duplicates: 0 });
    expect(statusAndCode(await post('report', {}))).toEqual([400, 'VALIDATION']);
  });

  it('accepts from an organisation’s key only its own organisation', async () => {
    const own = await makeKey(test, { organisationId: await fresh() });
    expect(statusAndCode(await post('report', { records: [record()] }, own.key))).toEqual([404, 'NOT_FOUND']);
  });
});

describe('PUT /api/usage/METER', () => {
  it('sets a gauge, also above the limit, and ignores an older value', async () => {
    const id = await fresh();
    const above = limitOf('projects') + 9;
    const now = await put('projects', { organisation: id, used: above });
    expect([now.status, now.body]).toEqual([200, { meter: 'projects', used: above, limit: limitOf('projects') }]);
    const at = from(-60_000);
    expect((await put('projects', { organisation: id, used: 1, at })).body.used).toBe(above);
    expect((await put('projects', { organisation: id, used: 0 })).body.used).toBe(0);
  });

  it('refuses a counter, members and an invalid number with 400, an unknown meter with 404', async () => {
    for (const meter of ['api_calls', 'members']) {
      expect(statusAndCode(await put(meter, { organisation, used: 1 }))).toEqual([400, 'VALIDATION']);
    }
    for (const used of [-1, 1.5, '1', null, 2 ** 53]) {
      expect(statusAndCode(await put('projects', { organisation, used }))).toEqual([400, 'VALIDATION']);
    }
    for (const meter of ['unknown', '[meter]', '{meter}', '%5Bmeter%5D']) {
      expect(statusAndCode(await put(meter, { organisation, used: 1 }))).toEqual([404, 'NOT_FOUND']);
    }
    // The meter is the one of the path alone.
    const twice = await put('projects', { organisation, used: 1, meter: 'api_calls' });
    expect([twice.status, Object.keys(twice.body.fields)]).toEqual([400, ['meter']]);
    expect(statusAndCode(await askRest(test, 'PUT', '/api/usage/projects', { key, body: '{' }))).toEqual([
      400,
      'VALIDATION',
    ]);
  });
});

describe('GET /api/usage/METER', () => {
  it('answers the last days in UTC, the oldest first, with zeros for days without use', async () => {
    const id = await fresh();
    await post('reserve', { organisation: id, meter: 'api_calls', amount: 5, idempotency_key: newKey() });
    const { status, body } = await history('api_calls', `organisation=${id}`);
    expect([status, body.meter, body.days.length]).toEqual([200, 'api_calls', 30]);
    expect(body.days.at(-1)).toEqual({ date: from(0).slice(0, 10), used: 5 });
    expect(body.days[0].used).toBe(0);
  });

  it('refuses any number of days but 1 to 400 with 400, an unknown meter with 404', async () => {
    for (const days of ['0', '401', 'x', '1.5', '-1', '9007199254740993']) {
      const refused = await history('projects', `organisation=${organisation}&days=${days}`);
      expect(statusAndCode(refused)).toEqual([400, 'VALIDATION']);
      expect(refused.body.fields).toEqual({ days: 'The number of days must be a whole number from 1 to 400.' });
    }
    expect((await history('projects', `organisation=${organisation}&days=400`)).body.days).toHaveLength(400);
    expect(statusAndCode(await history('projects', 'days=3'))).toEqual([400, 'VALIDATION']);
    for (const meter of ['unknown', '[meter]'])
      expect(statusAndCode(await history(meter, `organisation=${organisation}`))).toEqual([404, 'NOT_FOUND']);
    expect(statusAndCode(await history('projects', 'organisation=unknown'))).toEqual([404, 'NOT_FOUND']);
  });
});
