import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readSession, startSession } from '../auth/sessions/session.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { paymentSubscriptions } from '../platform/db/schema/billing.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import { approveOwner, suspendUser } from '../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import {
  addMember,
  callerFor,
  givePlan,
  makeAccount,
  makeInvitation,
  makeOwner,
  testClient,
  testPassword,
} from '../testing/factories.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp({ environment: { APPROVED_DOMAINS: 'approved.example' } });
});
afterAll(() => test.close());

function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'done',
    (error) => error.cause.code,
  );
}

it('gives a name in the form of an id no slug of that form', async () => {
  const { api, session } = await makeAccount(test);
  await api.organisations.create({ org_name: '11111111-1111-4111-8111-111111111111' });
  expect((await readSession(test.app, session))?.organisation?.slug).toMatch(/^organisation(-\d+)?$/);
});

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

it('refuses an account that awaits approval, and a closed one', async () => {
  const waiting = await makeOwner(test, { approved: false });
  expect(await codeOf(waiting.api.organisations.create({ org_name: 'Second' }))).toBe('AWAITING_APPROVAL');
  const invited = await makeAccount(test);
  await test.app.db.update(users).set({ invitedOnly: true }).where(eq(users.id, invited.userId));
  expect(await codeOf(invited.api.organisations.create({ org_name: 'Mine' }))).toBe('AWAITING_APPROVAL');
  const closed = await makeAccount(test);
  await suspendUser(test.app, closed.email);
  expect(await codeOf(closed.api.organisations.create({ org_name: 'Mine' }))).toBe('FORBIDDEN');
});

/** An owner with a session of their own, for what another organisation does to it. */
async function makeSignedInOwner() {
  const owner = await makeOwner(test);
  const session = await startSession(test.app, { ...owner, client: testClient });
  const organisationOf = async () => (await readSession(test.app, session))?.organisation?.id;
  const mine = async () => (await owner.api.organisations.mine()).map(({ name, approval }) => [name, approval]);
  return { ...owner, session, organisationOf, mine };
}

async function secondOf(owner: Awaited<ReturnType<typeof makeOwner>>, name = 'Second') {
  await owner.api.organisations.create({ org_name: name });
  const { id = '' } = (await owner.api.organisations.mine()).find((each) => each.name === name) ?? {};
  return id;
}

it('creates a second organisation, which awaits approval while the session stays in the first', async () => {
  const operator = await makeOwner(test, { operator: true });
  const owner = await makeSignedInOwner();
  const id = await secondOf(owner, 'Second Branch');
  expect(await owner.organisationOf()).toBe(owner.organisationId);
  expect(await readSession(test.app, owner.session)).toMatchObject({ accountStatus: 'active', role: 'owner' });
  expect(await codeOf(owner.api.organisations.switch({ organisation_id: id }))).toBe('NOT_FOUND');

  const { waiting } = await operator.api.operators.queue({ search: 'Second Branch' });
  expect(waiting).toEqual([
    expect.objectContaining({
      organisation: expect.objectContaining({ id }),
      owner: expect.objectContaining({ email: owner.email }),
      evidence: expect.arrayContaining([{ code: 'other_organisations', count: 1 }]),
    }),
  ]);
  expect(waiting[0]?.evidence.map(({ code }) => code)).not.toContain('mail_opened');

  await operator.api.operators.approve({ organisation_ids: [id] });
  expect(await owner.organisationOf()).toBe(owner.organisationId);
  await owner.api.organisations.switch({ organisation_id: id });
  expect((await owner.api.organisations.mine()).map(({ approval }) => approval)).toEqual(['approved', 'approved']);
});

it('lets one organisation of a user await approval at a time, for any number of concurrent requests', async () => {
  const owner = await makeSignedInOwner();
  const ended = await Promise.all(
    Array.from({ length: 5 }, (_, index) => codeOf(owner.api.organisations.create({ org_name: `Branch ${index}` }))),
  );
  expect(ended.sort()).toEqual(['CONFLICT', 'CONFLICT', 'CONFLICT', 'CONFLICT', 'done']);
  expect(await test.app.db.$count(memberships, eq(memberships.userId, owner.userId))).toBe(2);
});

it('leaves the owner of a declined second organisation signed in to the first', async () => {
  const operator = await makeOwner(test, { operator: true });
  const owner = await makeSignedInOwner();
  const id = await secondOf(owner, 'Declined Branch');
  await operator.api.operators.decline({ organisation_ids: [id] });
  expect(await owner.organisationOf()).toBe(owner.organisationId);
  expect(await owner.mine()).toContainEqual(['Declined Branch', 'declined']);
  expect(await codeOf(owner.api.organisations.withdraw({ organisation_id: id }))).toBe('NOT_FOUND');
  expect(await codeOf(owner.api.organisations.create({ org_name: 'Another try' }))).toBe('done');
});

it('withdraws none whose subscription lives, as that of an import, also while billing is off', async () => {
  const owner = await makeOwner(test);
  const id = await secondOf(owner);
  const lives = { id: `sub ${id}`, organisationId: id, customerId: `cus ${id}`, status: 'active' };
  await test.app.db.insert(paymentSubscriptions).values(lives);
  expect(await codeOf(owner.api.organisations.withdraw({ organisation_id: id }))).toBe('BUSY');
  await test.app.db.update(paymentSubscriptions).set({ ended: true }).where(eq(paymentSubscriptions.id, lives.id));
  expect(await codeOf(owner.api.organisations.withdraw({ organisation_id: id }))).toBe('done');
});

it('withdraws the one that awaits approval, and no other', async () => {
  const owner = await makeSignedInOwner();
  const id = await secondOf(owner, 'Mistake');
  const stranger = await makeOwner(test);
  expect(await codeOf(stranger.api.organisations.withdraw({ organisation_id: id }))).toBe('NOT_FOUND');
  expect(await codeOf(owner.api.organisations.withdraw({ organisation_id: owner.organisationId }))).toBe('NOT_FOUND');
  const ended = await Promise.all(
    [1, 2, 3].map(() => codeOf(owner.api.organisations.withdraw({ organisation_id: id }))),
  );
  expect(ended.filter((code) => code === 'done')).toHaveLength(1);
  expect(await owner.organisationOf()).toBe(owner.organisationId);
  expect(await codeOf(owner.api.organisations.create({ org_name: 'Right' }))).toBe('done');
});

it.each(['an approval was undone', 'a key added a member'])(
  'asks for a fresh sign-in to withdraw one where %s, and for none otherwise',
  async (why) => {
    const operator = await makeOwner(test, { operator: true });
    const owner = await makeSignedInOwner();
    const late = callerFor(test, await readSession(test.app, owner.session));
    expect(await codeOf(late.organisations.withdraw({ organisation_id: await secondOf(owner) }))).toBe('done');

    const id = await secondOf(owner, `Once ${owner.email}`);
    if (why === 'a key added a member') await addMember(test, id, 'member');
    else {
      await operator.api.operators.approve({ organisation_ids: [id] });
      const [decided] = await test.app.db.select().from(organisations).where(eq(organisations.id, id));
      const decidedAt = decided?.approvedAt?.toISOString() ?? '';
      await operator.api.operators.undoDecision({ organisation_id: id, decided_at: decidedAt });
    }
    const stranger = callerFor(test, (await makeOwner(test)).principal);
    expect(await codeOf(stranger.organisations.withdraw({ organisation_id: id }))).toBe('NOT_FOUND');
    expect(await codeOf(late.organisations.withdraw({ organisation_id: id }))).toBe('FRESH_SIGN_IN_REQUIRED');
    const wrong = { organisation_id: id, password: 'not the pass phrase' };
    expect(await codeOf(late.organisations.withdraw(wrong))).toBe('UNAUTHENTICATED');
    expect(await test.app.db.$count(organisations, eq(organisations.id, id))).toBe(1);
    const typed = { organisation_id: id, password: testPassword };
    expect(await codeOf(late.organisations.withdraw(typed))).toBe('done');
  },
);

it('of a withdrawal and an approval at the same time, one succeeds', async () => {
  const operator = await makeOwner(test, { operator: true });
  const owner = await makeSignedInOwner();
  const id = await secondOf(owner, 'Contested');
  const [withdrawn, approved] = await Promise.all([
    codeOf(owner.api.organisations.withdraw({ organisation_id: id })),
    operator.api.operators.approve({ organisation_ids: [id] }),
  ]);
  expect(approved.changed).toBe(withdrawn === 'done' ? 0 : 1);
});

it('is deleted with the account of its only owner, and left like any other', async () => {
  const owner = await makeSignedInOwner();
  const id = await secondOf(owner, 'Short-lived');
  await owner.api.leaving.deleteAccount({ password: testPassword, organisation_ids: [owner.organisationId, id] });
  expect(await test.app.db.$count(organisations, eq(organisations.name, 'Short-lived'))).toBe(0);
});

it('waits alone where the first organisation is deleted meanwhile', async () => {
  const owner = await makeSignedInOwner();
  await secondOf(owner, 'Left over');
  await owner.api.leaving.deleteOrganisation({ organisation_id: owner.organisationId, password: testPassword });
  expect(await readSession(test.app, owner.session)).toMatchObject({
    accountStatus: 'awaiting_approval',
    organisation: { name: 'Left over' },
  });
});

it('APPROVED_DOMAINS approves a second one only while every other one of its owner has a paid plan', async () => {
  const owner = await makeSignedInOwner();
  await test.app.db
    .update(users)
    .set({ email: `${owner.userId}@approved.example` })
    .where(eq(users.id, owner.userId));
  expect(await owner.api.organisations.create({ org_name: 'Beside a free one' })).toEqual({ awaiting_approval: true });
  const { id = '' } = (await owner.api.organisations.mine()).find(({ approval }) => approval === 'pending') ?? {};
  await owner.api.organisations.withdraw({ organisation_id: id });

  await givePlan(test, owner.organisationId, 'silver');
  expect(await owner.api.organisations.create({ org_name: 'Beside a paid one' })).toEqual({ awaiting_approval: false });
  expect(await owner.organisationOf()).toBe(owner.organisationId);
  expect(await readSession(test.app, owner.session)).toMatchObject({ role: 'owner' });
  expect(await owner.api.organisations.create({ org_name: 'Third' })).toEqual({ awaiting_approval: true });
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
  const principal = await readSession(test.app, operator.session);
  expect(principal && (await callerFor(test, principal).organisations.create({ org_name: 'House' }))).toEqual({
    awaiting_approval: false,
  });
  expect(await readSession(test.app, operator.session)).toMatchObject({ accountStatus: 'active', role: 'owner' });
});

it('creates one organisation for any number of concurrent requests, also beside a join', async () => {
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
  // A user whose own organisation waits may still join, and one who joined may create another.
  expect([joined, created]).toEqual(['done', 'done']);
  expect(await test.app.db.$count(memberships, eq(memberships.userId, joining.userId))).toBe(2);
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
  const limited = await startTestApp({ environment: { RATE_LIMITS: 'on' } });
  const { principal } = await makeAccount(limited);
  const api = callerFor(limited, principal, { client: '203.0.113.80' });
  const ended: string[] = [];
  for (let attempts = 0; attempts < 21; attempts++)
    ended.push(await codeOf(api.organisations.create({ org_name: '' })));
  expect(ended.slice(0, 20)).toEqual(Array(20).fill('VALIDATION'));
  expect(ended[20]).toBe('TOO_MANY');
  await limited.close();
});
