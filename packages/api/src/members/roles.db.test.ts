import { and, eq } from 'drizzle-orm';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Role } from '../auth/principal.ts';
import { accountByEmail } from '../auth/sessions/account.ts';
import { readSession, startSession } from '../auth/sessions/session.ts';
import { auditEvents } from '../platform/db/schema/audit.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { suspendUser } from '../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { addMember, callerFor, makeInvitation, makeOwner, testClient, testPassword } from '../testing/factories.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

async function rolesIn(organisationId: string): Promise<string[]> {
  const rows = await test.app.db
    .select({ role: memberships.role })
    .from(memberships)
    .where(eq(memberships.organisationId, organisationId));
  return rows.map(({ role }) => role).sort();
}

function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'done',
    (error) => error.cause.code,
  );
}

const roles = ['owner', 'admin', 'member', 'viewer'] as const;

/** The changes that a member of one role may make to a member of another role, beside another owner. */
function expectedOf(actor: Role, target: Role, to: Role): string {
  if (actor === 'member' || actor === 'viewer') return 'FORBIDDEN';
  return actor === 'owner' || (target !== 'owner' && to !== 'owner') ? 'done' : 'FORBIDDEN';
}

it.each(roles)('lets %s make exactly the changes of roles that the role permits', async (actorRole) => {
  const { organisationId: organisation_id } = await makeOwner(test);
  const actor = await addMember(test, organisation_id, actorRole);
  for (const from of roles) {
    for (const to of roles) {
      const { userId: user_id } = await addMember(test, organisation_id, from);
      const ended = await codeOf(actor.api.members.changeRole({ organisation_id, user_id, role: to }));
      expect(ended, `${from} to ${to}`).toBe(expectedOf(actorRole, from, to));
    }
    const { userId: user_id } = await addMember(test, organisation_id, from);
    const ended = await codeOf(actor.api.members.remove({ organisation_id, user_id }));
    expect(ended, `${from} removed`).toBe(expectedOf(actorRole, from, 'viewer'));
  }
});

it('a changed role and an ended membership take effect on the next request', async () => {
  const { api, organisationId: organisation_id } = await makeOwner(test);
  const { userId: user_id } = await addMember(test, organisation_id, 'admin');
  const id = await startSession(test.app, { userId: user_id, organisationId: organisation_id, client: testClient });
  expect(await readSession(test.app, id)).toMatchObject({ scopes: ['READ', 'WRITE', 'ADMIN'] });
  await api.members.changeRole({ organisation_id, user_id, role: 'viewer' });
  expect(await readSession(test.app, id)).toMatchObject({ role: 'viewer', scopes: ['READ'] });
  await api.members.remove({ organisation_id, user_id });
  expect(await readSession(test.app, id)).toMatchObject({ organisation: null, scopes: [], accountStatus: 'active' });
});

it('replaces a lost membership by another one', async () => {
  const [first, second] = [await makeOwner(test, { name: 'First' }), await makeOwner(test, { name: 'Second' })];
  await first.api.members.join({ token: await makeInvitation(second) });
  const id = await startSession(test.app, { ...first, organisationId: second.organisationId, client: testClient });
  expect(await readSession(test.app, id)).toMatchObject({ organisation: { name: 'Second' } });
  await second.api.members.remove({ organisation_id: second.organisationId, user_id: first.userId });
  expect(await readSession(test.app, id)).toMatchObject({ organisation: { name: 'First' }, role: 'owner' });
});

it('does not let the last owner leave, be demoted or be removed', async () => {
  const { api, userId: user_id, email, organisationId: organisation_id } = await makeOwner(test);
  expect(await codeOf(api.members.leave({ organisation_id }))).toBe('VALIDATION');
  expect(await codeOf(api.members.remove({ organisation_id, user_id }))).toBe('VALIDATION');
  expect(await codeOf(api.members.changeRole({ organisation_id, user_id, role: 'admin' }))).toBe('VALIDATION');

  const other = await addMember(test, organisation_id, 'owner');
  await suspendUser(test.app, other.email);
  expect(await codeOf(api.members.leave({ organisation_id })), 'beside a suspended one').toBe('VALIDATION');
  await addMember(test, organisation_id, 'owner');
  expect(await codeOf(api.members.leave({ organisation_id })), email).toBe('done');
});

it('keeps an owner, whatever concurrent changes owners make to each other', async () => {
  type Act = 'demote' | 'remove' | 'leave' | 'delete';
  const act = fc.constantFrom<Act>('demote', 'remove', 'leave', 'delete');
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 2, maxLength: 4 }), async (acts) => {
      const first = await makeOwner(test);
      const organisation_id = first.organisationId;
      const owners = [first];
      for (const _ of acts.slice(1)) owners.push(await addMember(test, organisation_id, 'owner'));
      const ended = await Promise.allSettled(
        acts.map((one, index) => {
          const { api } = owners[index] ?? first;
          const user_id = (owners[(index + 1) % owners.length] ?? first).userId;
          if (one === 'demote') return api.members.changeRole({ organisation_id, user_id, role: 'viewer' });
          if (one === 'remove') return api.members.remove({ organisation_id, user_id });
          if (one === 'leave') return api.members.leave({ organisation_id });
          return api.leaving.deleteAccount({ password: testPassword });
        }),
      );
      const left = await rolesIn(organisation_id);
      expect(left.length === 0 || left.includes('owner'), `${acts.join()} left ${left.join()}`).toBe(true);
      for (const one of ended) {
        if (one.status === 'rejected') expect(one.reason.cause.code).not.toMatch('INTERNAL');
      }
    }),
    { numRuns: 12 },
  );
});

it('leaves one owner where two demote each other at once', async () => {
  const first = await makeOwner(test);
  const organisation_id = first.organisationId;
  const second = await addMember(test, organisation_id, 'owner');
  const demote = (by: typeof first, user_id: string) =>
    codeOf(by.api.members.changeRole({ organisation_id, user_id, role: 'member' }));
  const ended = await Promise.all([demote(first, second.userId), demote(second, first.userId)]);
  expect(ended.sort()).toEqual(['FORBIDDEN', 'done']);
  expect(await rolesIn(organisation_id)).toEqual(['member', 'owner']);
});

it('checks the role at the time of the change, not at the time of the request', async () => {
  const { api, organisationId: organisation_id } = await makeOwner(test);
  const admin = await addMember(test, organisation_id, 'admin');
  const { userId: user_id } = await addMember(test, organisation_id, 'member');
  await api.members.changeRole({ organisation_id, user_id: admin.userId, role: 'member' });
  expect(await codeOf(admin.api.members.changeRole({ organisation_id, user_id, role: 'admin' }))).toBe('FORBIDDEN');
  expect(await codeOf(admin.api.members.remove({ organisation_id, user_id }))).toBe('FORBIDDEN');
});

it('finds no member of another organisation', async () => {
  const { api, organisationId: organisation_id } = await makeOwner(test);
  const stranger = await makeOwner(test);
  const user_id = stranger.userId;
  expect(await codeOf(api.members.changeRole({ organisation_id, user_id, role: 'viewer' }))).toBe('NOT_FOUND');
  expect(await codeOf(api.members.remove({ organisation_id, user_id }))).toBe('NOT_FOUND');
  const theirs = { organisation_id: stranger.organisationId, user_id };
  expect(await codeOf(api.members.remove(theirs))).toBe('NOT_FOUND');
  expect(await codeOf(api.organisations.switch(theirs))).toBe('NOT_FOUND');
  expect(await rolesIn(stranger.organisationId)).toEqual(['owner']);
});

it('switches to another organisation, also for the next sign-in', async () => {
  const [own, other] = [await makeOwner(test, { name: 'Own' }), await makeOwner(test, { name: 'Other' })];
  await own.api.members.join({ token: await makeInvitation(other) });
  const mine = await own.api.organisations.mine();
  expect(mine.map(({ name, role, approval }) => [name, role, approval])).toEqual([
    ['Own', 'owner', 'approved'],
    ['Other', 'member', 'approved'],
  ]);

  const id = await startSession(test.app, { ...own, client: testClient });
  const api = callerFor(test, await readSession(test.app, id));
  await api.organisations.switch({ organisation_id: other.organisationId });
  expect(await readSession(test.app, id)).toMatchObject({ organisation: { name: 'Other' }, role: 'member' });
  expect((await accountByEmail(test.app.db, own.email))?.organisationId).toBe(other.organisationId);
});

it('the audit log records the actor, the user, both roles, the time and the client of a change of role', async () => {
  const { api, userId, organisationId: organisation_id } = await makeOwner(test);
  const { userId: user_id } = await addMember(test, organisation_id, 'member');
  await api.members.changeRole({ organisation_id, user_id, role: 'member' });
  await api.members.changeRole({ organisation_id, user_id, role: 'admin' });
  await api.members.remove({ organisation_id, user_id });
  const rows = await test.app.db
    .select()
    .from(auditEvents)
    .where(
      and(
        eq(auditEvents.userId, user_id),
        eq(auditEvents.organisationId, organisation_id),
        eq(auditEvents.actorId, userId),
      ),
    );
  expect(rows).toHaveLength(2);
  const common = { actorId: userId, client: '127.0.0.1', at: expect.any(Date) };
  expect(rows.find(({ action }) => action === 'role-changed')).toMatchObject({
    ...common,
    details: { from: 'member', to: 'admin' },
  });
  expect(rows.find(({ action }) => action === 'member-removed')).toMatchObject(common);
});
