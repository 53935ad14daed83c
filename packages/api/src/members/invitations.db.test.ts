import { and, eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { deleteExpired } from '../auth/delete-expired.ts';
import { readSession } from '../auth/sessions/session.ts';
import { auditEvents } from '../platform/db/schema/audit.ts';
import { invitations, memberships } from '../platform/db/schema/members.ts';
import { dayMilliseconds } from '../platform/durations.ts';
import { suspendUser } from '../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import {
  addMember,
  callerFor,
  givePlan,
  makeAccount,
  makeInvitation,
  makeOwner,
  signInAs,
} from '../testing/factories.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

const notValid = { cause: { code: 'VALIDATION', message: 'This invitation is no longer valid.' } };

function membersOf(organisationId: string) {
  return test.app.db.$count(memberships, eq(memberships.organisationId, organisationId));
}

it('an invitation makes its holder a member of the organisation, once, with its role', async () => {
  const owner = await makeOwner(test, { name: 'Larch & Sons' });
  const token = await makeInvitation(owner, 'viewer');
  const person = await makeAccount(test);
  expect(await person.api.members.invitation({ token })).toMatchObject({
    organisation: { name: 'Larch & Sons' },
    role: 'viewer',
    belongs: false,
  });

  await person.api.members.join({ token });
  expect(await readSession(test.app, person.session)).toMatchObject({
    organisationId: owner.organisationId,
    role: 'viewer',
    scopes: ['READ'],
  });
  await expect((await makeAccount(test)).api.members.join({ token })).rejects.toMatchObject(notValid);
  await expect(callerFor(test, null).members.invitation({ token })).rejects.toMatchObject(notValid);
});

it('a user who joins an approved organisation needs no approval, and their own one keeps awaiting approval', async () => {
  const owner = await makeOwner(test);
  const waiting = await makeOwner(test, { approved: false });
  expect(waiting.principal.accountStatus).toBe('awaiting_approval');
  await waiting.api.members.join({ token: await makeInvitation(owner) });

  const { principal, api } = await signInAs(test, waiting.email);
  expect(principal).toMatchObject({ organisationId: owner.organisationId, accountStatus: 'active', role: 'member' });
  expect((await api.organisations.mine()).map(({ current, approval }) => [current, approval])).toEqual([
    [false, 'pending'],
    [true, 'approved'],
  ]);
  await expect(api.organisations.switch({ organisation_id: waiting.organisationId })).rejects.toMatchObject({
    cause: { code: 'NOT_FOUND' },
  });
});

it('of 50 concurrent attempts to use an invitation, one succeeds', async () => {
  const owner = await makeOwner(test);
  await givePlan(test, owner.organisationId, 'gold');
  const token = await makeInvitation(owner);
  const people = await Promise.all(Array.from({ length: 50 }, () => makeAccount(test)));
  const ended = await Promise.allSettled(people.map(({ api }) => api.members.join({ token })));
  expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(await membersOf(owner.organisationId)).toBe(2);
});

it('50 concurrent joins never exceed the plan’s limit, and the error names it', async () => {
  const owner = await makeOwner(test);
  await givePlan(test, owner.organisationId, 'silver');
  const tokens = await Promise.all(Array.from({ length: 50 }, () => makeInvitation(owner)));
  const people = await Promise.all(tokens.map(() => makeAccount(test)));
  const ended = await Promise.allSettled(
    people.map(({ api }, index) => api.members.join({ token: tokens[index] ?? '' })),
  );
  expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(9);
  expect(await membersOf(owner.organisationId)).toBe(10);

  const full = { cause: { code: 'LIMIT_REACHED', message: 'The Silver plan allows 10 members.' } };
  const refused = ended.findIndex(({ status }) => status === 'rejected');
  await expect(people[refused]?.api.members.join({ token: tokens[refused] ?? '' })).rejects.toMatchObject(full);
  await expect(makeInvitation(owner)).rejects.toMatchObject(full);
});

it('an invitation stays valid if joining is refused', async () => {
  const owner = await makeOwner(test);
  const token = await makeInvitation(owner);
  await expect(owner.api.members.join({ token })).rejects.toMatchObject({
    cause: { code: 'VALIDATION', message: 'You belong to Company already.' },
  });
  expect(await owner.api.members.invitation({ token })).toMatchObject({ belongs: true });
  await (await makeAccount(test)).api.members.join({ token });
});

it('an invitation is listed for administrators until it is used or revoked, and is stored as a hash only', async () => {
  const owner = await makeOwner(test);
  await givePlan(test, owner.organisationId, 'gold');
  const token = await makeInvitation(owner, 'admin');
  const [open] = await owner.api.members.invitations();
  expect(open).toMatchObject({ role: 'admin', made_by: { email: owner.email } });
  expect(JSON.stringify(await test.app.db.select().from(invitations))).not.toContain(token);

  const stranger = await makeOwner(test);
  await expect(stranger.api.members.withdraw({ id: open?.id ?? '' })).rejects.toMatchObject({
    cause: { code: 'NOT_FOUND' },
  });
  await owner.api.members.withdraw({ id: open?.id ?? '' });
  expect(await owner.api.members.invitations()).toEqual([]);
  await expect((await makeAccount(test)).api.members.join({ token })).rejects.toMatchObject(notValid);
  await expect(owner.api.members.withdraw({ id: open?.id ?? '' })).rejects.toMatchObject({
    cause: { code: 'NOT_FOUND' },
  });
});

it('an invitation expires after seven days, and is deleted a day later', async () => {
  const late = await startTestApp();
  const owner = await makeOwner(late);
  const token = await makeInvitation(owner);
  const person = await makeAccount(late);
  late.advance(7 * dayMilliseconds + 1000);
  await expect(person.api.members.join({ token })).rejects.toMatchObject(notValid);
  expect(await owner.api.members.invitations()).toEqual([]);
  await deleteExpired(late.app);
  expect(await late.app.db.$count(invitations)).toBe(1);
  late.advance(dayMilliseconds);
  await deleteExpired(late.app);
  expect(await late.app.db.$count(invitations)).toBe(0);
  await late.close();
});

it.each<[string, (owner: Awaited<ReturnType<typeof makeOwner>>, creator: string, email: string) => Promise<unknown>]>([
  ['removed', ({ api, organisationId }, user_id) => api.members.remove({ organisation_id: organisationId, user_id })],
  [
    'demoted',
    ({ api, organisationId }, user_id) =>
      api.members.changeRole({ organisation_id: organisationId, user_id, role: 'member' }),
  ],
  ['suspended', (_, __, email) => suspendUser(test.app, email)],
])('an invitation is not valid after its creator was %s', async (_, end) => {
  const owner = await makeOwner(test);
  await givePlan(test, owner.organisationId, 'gold');
  const admin = await addMember(test, owner.organisationId, 'admin');
  const token = await makeInvitation(admin, 'admin');
  await end(owner, admin.userId, admin.email);
  await expect((await makeAccount(test)).api.members.join({ token })).rejects.toMatchObject(notValid);
});

it('an invitation has a role below owner, and only an administrator creates one', async () => {
  const owner = await makeOwner(test);
  const organisation_id = owner.organisationId;
  await expect(owner.api.members.invite({ organisation_id, role: 'owner' as 'admin' })).rejects.toMatchObject({
    cause: { code: 'VALIDATION', fields: { role: 'Choose a role.' } },
  });
  const admin = await addMember(test, organisation_id, 'admin');
  await owner.api.members.changeRole({ organisation_id, user_id: admin.userId, role: 'viewer' });
  await expect(makeInvitation(admin)).rejects.toMatchObject({ cause: { code: 'FORBIDDEN' } });
});

it('an invitation is for the organisation of the page, not for another one that a second tab has chosen', async () => {
  const owner = await makeOwner(test);
  const other = await makeOwner(test);
  const notMeant = { cause: { code: 'NOT_FOUND' } };
  await expect(
    owner.api.members.invite({ organisation_id: other.organisationId, role: 'viewer' }),
  ).rejects.toMatchObject(notMeant);
  await expect(owner.api.members.leave({ organisation_id: other.organisationId })).rejects.toMatchObject(notMeant);
});

it('the audit log records the creation and the use of an invitation', async () => {
  const owner = await makeOwner(test);
  const token = await makeInvitation(owner);
  const person = await makeAccount(test);
  await person.api.members.join({ token });
  const rows = await test.app.db
    .select({ action: auditEvents.action, actor: auditEvents.actorId, details: auditEvents.details })
    .from(auditEvents)
    .where(and(eq(auditEvents.organisationId, owner.organisationId), eq(auditEvents.client, '127.0.0.1')));
  expect(rows).toContainEqual(expect.objectContaining({ action: 'invitation-made', actor: owner.userId }));
  expect(rows).toContainEqual(
    expect.objectContaining({
      action: 'member-joined',
      actor: person.userId,
      details: expect.objectContaining({ role: 'member' }),
    }),
  );
});
