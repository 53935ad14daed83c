import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { users } from '../platform/db/schema/accounts.ts';
import { auditEvents } from '../platform/db/schema/audit.ts';
import { invitations } from '../platform/db/schema/members.ts';
import { dayMilliseconds } from '../platform/durations.ts';
import { restoreOrganisation, suspendOrganisation } from '../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import {
  addMember,
  callerFor,
  makeAccount,
  makeInvitation,
  makeOwner,
  signInAs,
  testClient,
} from '../testing/factories.ts';
import { readActivity } from './read-activity.ts';
import { deleteOldEntries, recordAudit } from './record.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

it('records the action, the time and the client address', async () => {
  const { userId, api } = await makeOwner(test);
  await api.signIn.out();
  const activity = await readActivity(test.app.db, userId);
  expect(activity[0]).toMatchObject({ action: 'signed-out', client: '127.0.0.1' });
  expect(activity.map(({ action }) => action)).toContain('address-verified');
});

it('records the operator of each decision, and shows it to operators', async () => {
  const address = '203.0.113.7';
  const operator = await makeOwner(test, { operator: true });
  const { operators } = callerFor(test, operator.principal, { client: address });
  const { userId, organisationId } = await makeOwner(test, { approved: false });
  const declined = await makeOwner(test, { approved: false });
  await operators.approve({ organisation_ids: [organisationId] });
  await operators.decline({ organisation_ids: [declined.organisationId], reason: 'Not a customer.' });
  await operators.passwordLink({ user_id: userId });
  const { suspended_at } = await operators.suspend({ user_id: userId });
  await operators.restore({ user_id: userId, suspended_at });

  const recorded = await test.app.db.select().from(auditEvents).where(eq(auditEvents.client, address));
  const decisions = ['organisation-approved', 'organisation-declined'];
  const changes = ['password-link-made', 'person-restored', 'person-suspended'];
  expect(recorded.map(({ action }) => action).sort()).toEqual([...decisions, ...changes]);
  for (const each of recorded)
    expect(each).toMatchObject({ actorId: operator.userId, userAgent: testClient.userAgent });
  const { entries } = await operators.person({ user_id: userId });
  expect(entries.filter(({ client }) => client === address).map(({ action }) => action)).toEqual(
    expect.arrayContaining(['organisation-approved', 'person-suspended', 'password-link-made']),
  );
});

it('shows users the decisions about their organisation, without the address of the operator', async () => {
  const operator = await makeOwner(test, { operator: true });
  const { operators } = callerFor(test, operator.principal, { client: '203.0.113.8' });
  const { userId, organisationId, principal } = await makeOwner(test, { approved: false });
  const otherOwner = await makeOwner(test);
  await operators.approve({ organisation_ids: [organisationId] });
  await suspendOrganisation(test.app, principal.organisation?.slug ?? '');
  await restoreOrganisation(test.app, principal.organisation?.slug ?? '');
  await operators.passwordLink({ user_id: userId });

  const activity = await readActivity(test.app.db, userId);
  expect(activity.map(({ action }) => action)).toEqual(
    expect.arrayContaining([
      'organisation-approved',
      'organisation-suspended',
      'organisation-restored',
      'password-link-made',
    ]),
  );
  expect(activity.map(({ action, client }) => [action, client])).toContainEqual(['signed-up', testClient.address]);
  const { events } = await (await signInAs(test, principal.user.email)).api.leaving.export();
  expect(events.map(({ action }) => action)).toContain('password-link-made');
  expect(JSON.stringify([activity, events])).not.toContain('203.0.113.8');

  const [mine, theirs] = [await readActivity(test.app.db, otherOwner.userId), await readActivity(test.app.db, userId)];
  expect(mine.map(({ action }) => action)).not.toContain('organisation-suspended');
  expect(theirs.filter(({ id }) => mine.some((entry) => entry.id === id))).toEqual([]);
});

it('hides the actions of one member from the other members', async () => {
  const { userId, organisationId } = await makeOwner(test);
  const member = await addMember(test, organisationId, 'member');
  const entries = await readActivity(test.app.db, member.userId);
  expect(entries.map(({ action }) => action)).toContain('organisation-approved');
  const own = await test.app.db.$count(auditEvents, eq(auditEvents.userId, userId));
  expect(own).toBeGreaterThan(0);
  expect(entries.map(({ action }) => action)).not.toContain('address-verified');
});

it('refuses changes and truncation of the entries: an update may only remove client, browser and details', async () => {
  const { userId } = await makeOwner(test);
  const refused = { cause: { message: 'audit_events is append-only' } };
  const change = (values: Partial<typeof auditEvents.$inferInsert>) =>
    test.app.db.update(auditEvents).set(values).where(eq(auditEvents.userId, userId));
  const changes = [{ action: 'nothing' }, { userId: null }, { client: '192.0.2.1' }, { details: { new: 'detail' } }];
  for (const values of changes) await expect(change(values)).rejects.toMatchObject(refused);
  await change({ client: null, userAgent: null, details: {} });
  await expect(test.app.db.execute(sql`truncate ${auditEvents}`)).rejects.toMatchObject(refused);
});

it('deletes entries that are older than RETENTION_DAYS, and no others', async () => {
  const now = test.app.now();
  const old = new Date(now.getTime() - 401 * dayMilliseconds);
  const userId = crypto.randomUUID();
  await recordAudit(test.app.db, old, { action: 'signed-in', userId });
  await recordAudit(test.app.db, now, { action: 'signed-in', userId });
  await deleteOldEntries(test.app.db, now, 400);
  expect(await readActivity(test.app.db, userId)).toHaveLength(1);
});

describe('what an entry shows to its reader', () => {
  it('names another member while both belong to the organisation, and not after a removal', async () => {
    const owner = await makeOwner(test);
    const { organisationId: organisation_id } = owner;
    const member = await addMember(test, organisation_id, 'member');
    await owner.api.members.changeRole({ organisation_id, user_id: member.userId, role: 'admin' });
    const named = { kind: 'named', name: null };
    expect((await readActivity(test.app.db, owner.userId))[0]).toMatchObject({
      action: 'role-changed',
      actor: { kind: 'you' },
      person: { ...named, email: member.email },
      change: { from: 'member', to: 'admin' },
    });
    expect((await readActivity(test.app.db, member.userId))[0]).toMatchObject({
      actor: { ...named, email: owner.email },
      person: { kind: 'you' },
      client: null,
    });

    await owner.api.members.remove({ organisation_id, user_id: member.userId });
    const changed = 'changed-later@company.example';
    await test.app.db.update(users).set({ email: changed }).where(eq(users.id, member.userId));
    const left = await readActivity(test.app.db, owner.userId);
    expect(left[0]).toMatchObject({ action: 'member-removed', actor: { kind: 'you' }, person: { kind: 'unnamed' } });
    expect(JSON.stringify(left)).not.toContain(changed);
    const theirs = await readActivity(test.app.db, member.userId);
    expect(theirs[0]).toMatchObject({ action: 'member-removed', actor: { kind: 'unnamed' }, organisation: null });
    expect(JSON.stringify(theirs)).not.toContain(owner.email);
  });

  it('names neither an operator, even one who is a member, nor a deleted account', async () => {
    const owner = await makeOwner(test, { approved: false });
    const operator = await addMember(test, owner.organisationId, 'admin');
    const console = await makeOwner(test, { operator: true });
    await console.api.operators.approve({ organisation_ids: [owner.organisationId] });
    await console.api.operators.passwordLink({ user_id: owner.userId });
    const activity = JSON.stringify(await readActivity(test.app.db, owner.userId));
    expect(activity).not.toContain(console.email);
    expect(activity).not.toContain(console.userId);
    expect((await readActivity(test.app.db, owner.userId))[0]).toMatchObject({ actor: { kind: 'operator' } });

    const { api } = await signInAs(test, owner.email);
    await api.members.changeRole({ organisation_id: owner.organisationId, user_id: operator.userId, role: 'viewer' });
    await test.app.db.delete(users).where(eq(users.id, operator.userId));
    expect(
      (await readActivity(test.app.db, owner.userId)).find(({ action }) => action === 'role-changed'),
    ).toMatchObject({
      person: { kind: 'unnamed' },
    });
  });

  it('shows changes of members and of the plan to administrators, and to other members only changes of the organisation', async () => {
    const owner = await makeOwner(test, { name: 'Before' });
    const { organisationId: organisation_id } = owner;
    const joined = await makeAccount(test);
    await joined.api.members.join({ token: await makeInvitation(owner, 'viewer') });
    const details = { plan: 'Silver' };
    const entry = { organisationId: organisation_id, details };
    await recordAudit(test.app.db, test.app.now(), { action: 'payment-failed', ...entry });
    await owner.api.organisations.rename({ organisation_id, name: 'After' });

    const seen = async (userId: string) => (await readActivity(test.app.db, userId)).map(({ action }) => action);
    expect((await seen(owner.userId)).slice(0, 3)).toEqual(['organisation-renamed', 'payment-failed', 'member-joined']);
    const viewers = await seen(joined.userId);
    expect(viewers).toContain('organisation-renamed');
    expect(viewers).not.toContain('payment-failed');
    expect(viewers).not.toContain('invitation-made');
  });

  it('shows for whom an invitation is while it is kept, and the name of a new API key', async () => {
    const owner = await makeOwner(test);
    const { organisationId: organisation_id } = owner;
    await owner.api.members.invite({ organisation_id, role: 'viewer', note: 'Ada' });
    const [made] = await readActivity(test.app.db, owner.userId);
    expect(made).toMatchObject({ action: 'invitation-made', note: 'Ada', role: 'viewer', key: null });
    await test.app.db.delete(invitations);
    expect((await readActivity(test.app.db, owner.userId))[0]).toMatchObject({ action: 'invitation-made', note: null });

    const details = { name: 'Billing worker' };
    const entry = { actorId: owner.userId, organisationId: organisation_id, details };
    await recordAudit(test.app.db, test.app.now(), { action: 'api-key-created', ...entry });
    expect((await readActivity(test.app.db, owner.userId))[0]).toMatchObject({ key: 'Billing worker', note: null });
  });

  it('hides openings of checkout and portal from users, and shows operators every name', async () => {
    const operator = await makeOwner(test, { operator: true });
    const owner = await makeOwner(test);
    const { organisationId: organisation_id } = owner;
    const member = await addMember(test, organisation_id, 'member');
    for (const action of ['plan-checkout', 'plan-portal'] as const) {
      await recordAudit(test.app.db, test.app.now(), {
        action,
        actorId: owner.userId,
        organisationId: organisation_id,
      });
    }
    await owner.api.members.remove({ organisation_id, user_id: member.userId });
    const own = (await readActivity(test.app.db, owner.userId)).map(({ action }) => action);
    expect(own).not.toContain('plan-checkout');
    expect(own).not.toContain('plan-portal');
    const { entries } = await operator.api.operators.person({ user_id: member.userId });
    expect(entries[0]).toMatchObject({ action: 'member-removed', actor: owner.email });
  });
});

it('records a wrong password of a signed-in user as a failed password check, not as a failed sign-in', async () => {
  const { api, userId } = await makeOwner(test);
  await expect(api.leaving.deleteAccount({ password: 'not the pass phrase' })).rejects.toThrow();
  const [newest, ...older] = (await readActivity(test.app.db, userId)).map(({ action }) => action);
  expect(newest).toBe('password-check-failed');
  expect(older).not.toContain('sign-in-failed');
});
