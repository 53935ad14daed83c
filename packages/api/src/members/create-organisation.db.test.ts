import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readSession } from '../auth/sessions/session.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { approveOwner, suspendUser } from '../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { callerFor, makeAccount, makeInvitation, makeOwner } from '../testing/factories.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp({ environment: { APPROVED_DOMAINS: 'approved.example', RATE_LIMITS: 'on' } });
});
afterAll(() => test.close());

function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'done',
    (error) => error.cause.code,
  );
}

it('creates an organisation that awaits approval, and shuts the gate of its owner until then', async () => {
  const operator = await makeOwner(test, { operator: true });
  const { api, session, email } = await makeAccount(test);
  expect(await api.organisations.create({ org_name: 'Fresh Start' })).toEqual({ awaiting_approval: true });
  expect(await readSession(test.app, session)).toMatchObject({
    organisation: { name: 'Fresh Start', slug: 'fresh-start' },
    role: 'owner',
    scopes: [],
    accountStatus: 'awaiting_approval',
  });
  const { waiting } = await operator.api.operators.queue({});
  expect(waiting).toContainEqual(expect.objectContaining({ owner: expect.objectContaining({ email }) }));
  await approveOwner(test.app, email);
  expect(await readSession(test.app, session)).toMatchObject({
    accountStatus: 'active',
    scopes: ['READ', 'WRITE', 'ADMIN'],
  });
});

it('refuses a member of an organisation, an account that awaits approval, and a closed one', async () => {
  const { api } = await makeOwner(test);
  expect(await codeOf(api.organisations.create({ org_name: 'Second' }))).toBe('VALIDATION');
  const waiting = await makeOwner(test, { approved: false });
  expect(await codeOf(waiting.api.organisations.create({ org_name: 'Second' }))).toBe('AWAITING_APPROVAL');
  const invited = await makeAccount(test);
  await test.app.db.update(users).set({ invitedOnly: true }).where(eq(users.id, invited.userId));
  expect(await codeOf(invited.api.organisations.create({ org_name: 'Mine' }))).toBe('AWAITING_APPROVAL');
  const closed = await makeAccount(test);
  await suspendUser(test.app, closed.email);
  expect(await codeOf(closed.api.organisations.create({ org_name: 'Mine' }))).toBe('FORBIDDEN');
});

it('approves at once for an approved domain and for an operator', async () => {
  const listed = await makeAccount(test);
  await test.app.db
    .update(users)
    .set({ email: `${listed.userId}@approved.example` })
    .where(eq(users.id, listed.userId));
  expect(await listed.api.organisations.create({ org_name: 'Listed' })).toEqual({ awaiting_approval: false });
  expect(await readSession(test.app, listed.session)).toMatchObject({ accountStatus: 'active', role: 'owner' });
  const operator = await makeAccount(test);
  await test.app.db.update(users).set({ operator: true }).where(eq(users.id, operator.userId));
  expect(await operator.api.organisations.create({ org_name: 'House' })).toEqual({ awaiting_approval: false });
  expect(await readSession(test.app, operator.session)).toMatchObject({ accountStatus: 'active', role: 'owner' });
});

it('creates one organisation for any number of concurrent requests, and none after a join', async () => {
  const { api, userId } = await makeAccount(test);
  const ended = await Promise.all(
    Array.from({ length: 5 }, () => codeOf(api.organisations.create({ org_name: 'One' }))),
  );
  expect(ended.filter((code) => code === 'done')).toHaveLength(1);
  expect(await test.app.db.$count(memberships, eq(memberships.userId, userId))).toBe(1);

  const joining = await makeAccount(test);
  const token = await makeInvitation(await makeOwner(test));
  const [joined, created] = await Promise.all([
    codeOf(joining.api.members.join({ token })),
    codeOf(joining.api.organisations.create({ org_name: 'Own' })),
  ]);
  const belongs = await test.app.db.$count(memberships, eq(memberships.userId, joining.userId));
  // A user whose own organisation waits may still join; one who joined first creates none.
  expect(joined).toBe('done');
  expect(belongs).toBe(created === 'done' ? 2 : 1);
});

it('gives parallel organisations of one name different slugs', async () => {
  const accounts = await Promise.all(Array.from({ length: 6 }, () => makeAccount(test)));
  await Promise.all(accounts.map(({ api }) => api.organisations.create({ org_name: 'Same Name' })));
  const slugs = await Promise.all(
    accounts.map(async ({ session }) => (await readSession(test.app, session))?.organisation?.slug),
  );
  expect(new Set(slugs).size).toBe(6);
});

it('counts against the limit of sign-up, per client', async () => {
  const { principal } = await makeAccount(test);
  const api = callerFor(test, principal, { client: '203.0.113.80' });
  const ended: string[] = [];
  for (let attempts = 0; attempts < 21; attempts++)
    ended.push(await codeOf(api.organisations.create({ org_name: '' })));
  expect(ended.slice(0, 20)).toEqual(Array(20).fill('VALIDATION'));
  expect(ended[20]).toBe('TOO_MANY');
});
