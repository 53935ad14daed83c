import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readSession } from '../auth/sessions/session.ts';
import { newId } from '../platform/db/id.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { addMember, makeAccount, makeInvitation, makeOwner } from '../testing/factories.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

type Owner = Awaited<ReturnType<typeof makeOwner>>;

/** Adds members in one moment, so that only their ids order them. */
async function addMembers({ organisationId }: Owner, count: number): Promise<void> {
  const now = test.app.now();
  const rows = Array.from({ length: count }, (_, index) => {
    const id = newId(now);
    return {
      id,
      email: `m${index}-${id}@company.example`,
      name: `Member ${index}`,
      emailVerifiedAt: now,
      createdAt: now,
    };
  });
  await test.app.db.insert(users).values(rows);
  await test.app.db
    .insert(memberships)
    .values(rows.map(({ id }) => ({ userId: id, organisationId, role: 'member' as const, createdAt: now })));
}

async function pagesOf({ api }: Owner, search?: string) {
  const pages = [];
  let after: string | undefined;
  do {
    const page = await api.members.search({ search, after });
    pages.push(page.members.map(({ id }) => id));
    after = page.next ?? undefined;
  } while (after !== undefined);
  return pages;
}

it('lists every member once, fifty to a page, whatever joins or leaves between the pages', async () => {
  const owner = await makeOwner(test);
  await addMembers(owner, 119);
  const pages = await pagesOf(owner);
  expect(pages.map(({ length }) => length)).toEqual([50, 50, 20]);
  expect(new Set(pages.flat()).size).toBe(120);
  expect(await owner.api.members.search()).toMatchObject({ total: 120, found: 120 });

  const first = await owner.api.members.search();
  await test.app.db.delete(memberships).where(eq(memberships.userId, first.members[49]?.id ?? ''));
  const second = await owner.api.members.search({ after: first.next ?? '' });
  expect(second.members.map(({ id }) => id)).toEqual(pages[1]);
});

it('searches names and addresses, literally, only in the own organisation', async () => {
  const owner = await makeOwner(test);
  await addMembers(owner, 12);
  await addMembers(await makeOwner(test), 12);
  const found = await owner.api.members.search({ search: 'member 1' });
  expect(found.members.map(({ name }) => name).sort()).toEqual(['Member 1', 'Member 10', 'Member 11']);
  expect(found).toMatchObject({ found: 3, total: 13, next: null });
  expect((await owner.api.members.search({ search: owner.email.toUpperCase() })).members).toHaveLength(1);
  expect((await owner.api.members.search({ search: '%' })).found).toBe(0);
});

const anId = '0192a5f0-0000-7000-8000-000000000000';

it.each([
  'x',
  '2026_1',
  '1_x',
  'x_x',
  `0000-01-01T00:00:00Z_${anId}`,
  `2026-11-22T06:00:00.${'0'.repeat(200)}Z_${anId}`,
  `999999999999999_${anId}`,
])('refuses %j as the cursor of a page', async (after) => {
  const { api } = await makeOwner(test);
  await expect(api.members.search({ after })).rejects.toMatchObject({ cause: { code: 'VALIDATION' } });
});

it('shows only administrators when a member was last seen and who invited them', async () => {
  const owner = await makeOwner(test);
  const { organisationId } = owner;
  const invited = await makeAccount(test);
  await invited.api.members.join({ token: await makeInvitation(owner) });
  await readSession(test.app, invited.session);

  const listed = (await owner.api.members.search()).members.find(({ id }) => id === invited.userId);
  expect(listed).toMatchObject({ last_seen_at: expect.any(String), invited_by: { email: owner.email } });
  const viewer = await addMember(test, organisationId, 'viewer');
  for (const member of (await viewer.api.members.search()).members) {
    expect(member).toMatchObject({ last_seen_at: null, invited_by: null });
  }

  const second = await addMember(test, organisationId, 'owner');
  await owner.api.members.leave({ organisation_id: organisationId });
  const after = (await second.api.members.search()).members.find(({ id }) => id === invited.userId);
  expect(after).toMatchObject({ invited_by: null });
});

it('stores once an hour that a member was seen, per organisation', async () => {
  const [here, there] = [await makeOwner(test), await makeOwner(test)];
  const invited = await makeAccount(test);
  const seen = async ({ api }: Owner) =>
    (await api.members.search()).members.find(({ id }) => id === invited.userId)?.last_seen_at ?? null;
  await invited.api.members.join({ token: await makeInvitation(there) });
  await invited.api.members.join({ token: await makeInvitation(here) });
  expect([await seen(here), await seen(there)]).toEqual([null, null]);

  await readSession(test.app, invited.session);
  const first = await seen(here);
  expect(first).not.toBeNull();
  expect(await seen(there)).toBeNull();
  test.advance(59 * 60_000);
  await readSession(test.app, invited.session);
  expect(await seen(here)).toBe(first);
  test.advance(2 * 60_000);
  await readSession(test.app, invited.session);
  expect(await seen(here)).not.toBe(first);
});

it('reports whether the principal is the only owner, who cannot leave; a suspended owner does not count', async () => {
  const owner = await makeOwner(test);
  expect((await owner.api.members.search()).is_only_owner).toBe(true);
  expect(await owner.api.members.ownStarted()).toBeNull();
  const second = await addMember(test, owner.organisationId, 'owner');
  expect((await owner.api.members.search()).is_only_owner).toBe(false);
  expect(await owner.api.members.ownStarted()).toEqual({ keys: [], invitations: 0, links: 0 });
  await test.app.db.update(users).set({ suspendedAt: test.app.now() }).where(eq(users.id, second.userId));
  expect((await owner.api.members.search()).is_only_owner).toBe(true);
  const admin = await addMember(test, owner.organisationId, 'admin');
  expect((await admin.api.members.search()).is_only_owner).toBe(false);
});

it('shows the note of an invitation to administrators, and not to the invited user', async () => {
  const owner = await makeOwner(test);
  const { organisationId: organisation_id } = owner;
  const { url } = await owner.api.members.invite({ organisation_id, role: 'viewer', note: ' Mia, accounts ' });
  await owner.api.members.invite({ organisation_id, role: 'viewer', note: '' });
  expect((await owner.api.members.invitations()).map(({ note }) => note)).toEqual(['Mia, accounts', null]);
  const token = new URL(url).searchParams.get('token') ?? '';
  const { api } = await makeAccount(test);
  expect(JSON.stringify(await api.members.invitation({ token }))).not.toContain('Mia');
  expect((await owner.api.leaving.export()).open_invitations[0]).toMatchObject({ note: 'Mia, accounts' });
});
