import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { auditEvents } from '../db/schema/audit.ts';
import { restoreOrganisation, suspendOrganisation } from '../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { addMember, callerFor, makeOwner, signInAs, testClient } from '../testing/factories.ts';
import { deleteOldEntries } from './delete-old.ts';
import { readActivity } from './read-activity.ts';
import { recordAudit } from './record.ts';

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
  await operators.suspend({ user_id: userId });
  await operators.restore({ user_id: userId });

  const recorded = await test.app.db.select().from(auditEvents).where(eq(auditEvents.client, address));
  const decisions = ['organisation-approved', 'organisation-declined'];
  const changes = ['password-link-made', 'person-restored', 'person-suspended'];
  expect(recorded.map(({ action }) => action).sort()).toEqual([...decisions, ...changes]);
  for (const each of recorded)
    expect(each).toMatchObject({ actorId: operator.userId, userAgent: testClient.userAgent });
  const { activity } = await operators.personHistory({ user_id: userId });
  expect(activity.filter(({ client }) => client === address).map(({ action }) => action)).toEqual(
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

it('refuses changes and truncation of the entries', async () => {
  const { userId } = await makeOwner(test);
  const refused = { cause: { message: 'audit_events is append-only' } };
  await expect(
    test.app.db.update(auditEvents).set({ action: 'nothing' }).where(eq(auditEvents.userId, userId)),
  ).rejects.toMatchObject(refused);
  await expect(test.app.db.execute(sql`truncate ${auditEvents}`)).rejects.toMatchObject(refused);
});

it('deletes entries that are older than RETENTION_DAYS, and no others', async () => {
  const now = test.app.now();
  const old = new Date(now.getTime() - 401 * 86_400_000);
  const userId = crypto.randomUUID();
  await recordAudit(test.app.db, old, { action: 'signed-in', userId });
  await recordAudit(test.app.db, now, { action: 'signed-in', userId });
  await deleteOldEntries(test.app.db, now, 400);
  expect(await readActivity(test.app.db, userId)).toHaveLength(1);
});
