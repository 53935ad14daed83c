import { deleteOldChanges } from '@gatehouse/api/changes/delete-old';
import { dayMilliseconds } from '@gatehouse/api/platform/durations';
import { startTestApp, type TestApp } from '@gatehouse/api/testing/app';
import { addMember, givePlan, makeOwner } from '@gatehouse/api/testing/factories';
import { makeKey } from '@gatehouse/api/testing/keys';
import { makeTarget } from '@gatehouse/api/testing/usage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askRest } from '../testing/ask-rest.ts';

// The routes of the contract that read: entitlements, lists and changes.

let test: TestApp;
let owner: Awaited<ReturnType<typeof makeOwner>>;
let key: string;
beforeAll(async () => {
  test = await startTestApp();
  owner = await makeOwner(test, { name: 'Larch & Sons' });
  key = (await makeKey(test, { scope: 'READ' })).key;
});
afterAll(() => test.close());

const get = (path: string, by = key) => askRest(test, 'GET', path, { key: by });
const organisationOf = ({ principal }: typeof owner) => {
  if (principal.organisation === null) throw new Error('There is no organisation.');
  return principal.organisation;
};

/** Whole numbers that no JSON reader agrees on, or that have more digits than a number can have. */
const huge = ['9007199254740993', '99999999999999999999', '9'.repeat(400)];

describe('GET /api/organisations/ID/entitlements', () => {
  it('answers the plan, its features and the usage, by id and by slug', async () => {
    const { id, slug, name } = organisationOf(owner);
    const answer = await get(`/api/organisations/${id}/entitlements`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      organisation: { id, slug, name, approval: 'approved' },
      plan: { tier: 'free', name: 'Free', status: 'none', ends_at: null },
      features: expect.any(Object),
      usage: expect.arrayContaining([
        { meter: 'members', name: 'Members', used: 1, limit: expect.any(Number), resets_at: null },
      ]),
    });
    expect((await get(`/api/organisations/${slug}/entitlements`)).body).toEqual(answer.body);
    expect((await get(`/api/organisations/${id.toUpperCase()}/entitlements`)).status).toBe(200);
  });

  it('answers 404 for an unknown organisation, and to another one’s key as for an unknown one', async () => {
    const other = await makeKey(test, { organisationId: (await makeOwner(test)).organisationId });
    const { id, slug } = organisationOf(owner);
    const unknown = (await get('/api/organisations/00000000-0000-7000-8000-000000000000/entitlements')).body;
    expect(unknown).toEqual({ error: 'There is no such organisation.', code: 'NOT_FOUND' });
    for (const name of [id, slug, 'unknown']) {
      const answer = await get(`/api/organisations/${name}/entitlements`, other.key);
      expect([answer.status, answer.body]).toEqual([404, unknown]);
    }
    expect((await get('/api/organisations/%00/entitlements')).status).toBe(400);
  });
});

describe('GET /api/organisations/ID/entitlements/NAME', () => {
  it('answers for a feature whether the plan has it, and which tiers do', async () => {
    const { id } = organisationOf(owner);
    const { features } = test.app.plans.tiers[0] ?? { features: {} };
    for (const name of Object.keys(features)) {
      const tiers = test.app.plans.tiers.filter((each) => each.features[name]).map(({ tier }) => tier);
      const answer = await get(`/api/organisations/${id}/entitlements/${name}`);
      expect(answer.body).toEqual({ name, allowed: features[name], allowed_by: tiers });
    }
  });

  it('answers for a meter whether one more fits, the use and the tiers in which it would', async () => {
    const target = await makeTarget(test);
    const path = `/api/organisations/${target.organisationId}/entitlements/projects`;
    const limit = test.app.plans.tiers[0]?.limits.projects ?? 0;
    const before = await get(path);
    expect(before.body).toEqual({
      name: 'projects',
      allowed: true,
      used: 0,
      limit,
      resets_at: null,
      allowed_by: test.app.plans.tiers.map(({ tier }) => tier),
    });
    const writer = await makeKey(test);
    const body = { organisation: target.organisationId, used: limit };
    await askRest(test, 'PUT', '/api/usage/projects', { key: writer.key, body });
    expect((await get(path)).body).toMatchObject({ allowed: false, used: limit, allowed_by: ['silver', 'gold'] });
    await givePlan(test, target.organisationId, 'gold');
    expect((await get(path)).body).toMatchObject({ allowed: true });
  });

  it.each(['unknown', 'toString', '__proto__', '%00'])('answers 404 for %s', async (name) => {
    expect((await get(`/api/organisations/${owner.organisationId}/entitlements/${name}`)).status).toBe(404);
  });
});

describe('GET /api/organisations', () => {
  it('lists all in pages that neither miss nor repeat one', async () => {
    for (let made = 0; made < 5; made++) await makeTarget(test);
    const whole = (await get('/api/organisations?limit=100000')).body;
    expect(whole.next).toBeNull();
    expect(whole.organisations).toContainEqual({ ...organisationOf(owner), approval: 'approved', tier: 'free' });

    const seen: unknown[] = [];
    for (let next: string | null = ''; next !== null; ) {
      const { status, body } = await get(`/api/organisations?after=${next}&limit=2`);
      expect([status, body.organisations.length <= 2]).toEqual([200, true]);
      seen.push(...body.organisations);
      next = body.next;
    }
    expect(seen).toEqual(whole.organisations);
  });

  it('needs a key of the deployment', async () => {
    const mine = await makeKey(test, { organisationId: owner.organisationId });
    const refused = await get('/api/organisations', mine.key);
    expect([refused.status, refused.body.code]).toEqual([403, 'FORBIDDEN']);
  });

  it.each(huge)('cuts ?limit=%s', async (limit) => {
    expect((await get(`/api/organisations?limit=${limit}`)).status).toBe(200);
  });

  it.each(['limit=0', 'limit=-1', 'limit=x', 'limit=1.5', 'after=x', 'after=eHg'])('refuses ?%s', async (query) => {
    expect((await get(`/api/organisations?${query}`)).status).toBe(400);
  });
});

describe('GET /api/organisations/ID/members', () => {
  it('lists the members with their roles, in pages', async () => {
    const made = await makeOwner(test);
    const member = await addMember(test, made.organisationId, 'viewer');
    const path = `/api/organisations/${made.organisationId}/members`;
    const whole = (await get(`${path}?after=&limit=`)).body;
    const users = [
      { user: { id: made.userId, email: made.email, name: null }, role: 'owner' },
      { user: { id: member.userId, email: member.email, name: null }, role: 'viewer' },
    ];
    expect(whole).toEqual({ members: expect.arrayContaining(users), next: null });
    const first = (await get(`${path}?limit=1`)).body;
    const second = (await get(`${path}?limit=1&after=${first.next}`)).body;
    expect([...first.members, ...second.members]).toEqual(whole.members);
    expect(second.next).toBeNull();
  });

  it('answers 404 to the key of another organisation', async () => {
    const other = await makeKey(test, { organisationId: (await makeOwner(test)).organisationId });
    expect((await get(`/api/organisations/${owner.organisationId}/members`, other.key)).status).toBe(404);
  });
});

describe('GET /api/changes', () => {
  it('continues after a cursor, and shows an organisation’s key its own organisation alone', async () => {
    const { next } = (await get('/api/changes')).body;
    const mine = await makeOwner(test);
    await makeOwner(test);
    const own = await makeKey(test, { organisationId: mine.organisationId, scope: 'READ' });

    const all = (await get(`/api/changes?after=${next}`)).body;
    expect(new Set(all.changes.map((each: { organisation: string }) => each.organisation)).size).toBe(2);
    expect((await get(`/api/changes?after=${next}`, own.key)).status).toBe(400);
    const { changes } = (await get('/api/changes?after=0', own.key)).body;
    expect(changes.map((each: { type: string }) => each.type)).toEqual([
      'organisation.created',
      'member.joined',
      'organisation.approved',
    ]);
    expect(changes[0]).toEqual({
      cursor: expect.any(String),
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      type: 'organisation.created',
      organisation: mine.organisationId,
      user: null,
      data: { name: 'Company', slug: mine.principal.organisation?.slug },
    });
    expect((await get('/api/changes?after=0&limit=1')).body.changes).toHaveLength(1);
    expect((await get('/api/changes')).body.changes).toEqual([]);
  });

  it('waits for the next change, and sees it', async () => {
    const { next } = (await get('/api/changes')).body;
    const waiting = get(`/api/changes?after=${next}&wait=20`);
    const made = await makeOwner(test);
    expect((await waiting).body.changes[0]).toMatchObject({ organisation: made.organisationId });
  });

  it.each(['after=wrong', 'wait=-1', 'wait=x', 'wait=1.5', 'limit=0'])('refuses ?%s with a sentence', async (query) => {
    const { status, body } = await get(`/api/changes?${query}`);
    expect([status, body.code]).toEqual([400, 'VALIDATION']);
    for (const sentence of Object.values(body.fields ?? {})) expect(sentence).toMatch(/^[A-Z].*\.$/);
  });

  it.each(huge)('cuts ?limit=%s, and a wait that long', async (value) => {
    expect((await get(`/api/changes?after=0&limit=${value}&wait=${value}`)).status).toBe(200);
  });
});

// The last test, because it moves the clock.
it('GET /api/changes answers 410 with the oldest cursor after 30 days, from which a reader can continue', async () => {
  const { body: first } = await get('/api/changes?after=0&limit=1');
  test.advance(31 * dayMilliseconds);
  await deleteOldChanges(test.app);
  const gone = await get(`/api/changes?after=${first.next}`);
  expect([gone.status, gone.body]).toEqual([
    410,
    { error: expect.any(String), code: 'GONE', oldest: expect.any(String) },
  ]);
  expect((await get(`/api/changes?after=${gone.body.oldest}`)).status).toBe(200);
});
