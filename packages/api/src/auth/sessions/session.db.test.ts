import { and, desc, eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../platform/db/id.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { auditEvents } from '../../platform/db/schema/audit.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { hashToken } from '../../platform/security/token.ts';
import { approveOwner, restoreUser, suspendOrganisation, suspendUser } from '../../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { waitingForLocks } from '../../testing/database/waiting-for-locks.ts';
import { linkSubject, makeOwner, testClient } from '../../testing/factories.ts';
import {
  deleteOtherSessions,
  deleteSession,
  deleteSessionById,
  listSessions,
  readSession,
  readSharedSession,
  shareSession,
  startSession,
} from './session.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

async function start(options?: Parameters<typeof makeOwner>[1]) {
  const owner = await makeOwner(test, options);
  const { userId, organisationId } = owner;
  return { ...owner, id: await startSession(test.app, { userId, organisationId, client: testClient }) };
}

it('gives the principal its user, organisation and scopes', async () => {
  const { id, email, organisationId } = await start();
  expect(await readSession(test.app, id)).toMatchObject({
    user: { email },
    organisationId,
    role: 'owner',
    scopes: ['READ', 'WRITE', 'ADMIN'],
    accountStatus: 'active',
  });
});

it('stores no token that a reader of the table could use', async () => {
  const { id } = await start();
  const rows = await test.app.db.select().from(sessions);
  expect(JSON.stringify(rows)).not.toContain(id);
  for (const { idHash, id: name } of rows) {
    expect(await readSession(test.app, idHash)).toBeNull();
    expect(await readSession(test.app, name)).toBeNull();
  }
});

it('an account is active as soon as its organisation is approved', async () => {
  const { id, email } = await start({ approved: false });
  expect(await readSession(test.app, id)).toMatchObject({ accountStatus: 'awaiting_approval', scopes: [] });
  await approveOwner(test.app, email);
  expect(await readSession(test.app, id)).toMatchObject({
    accountStatus: 'active',
    scopes: ['READ', 'WRITE', 'ADMIN'],
  });
});

it('a session ends at once when its user is suspended, and stays ended after a restoration', async () => {
  const { id, email } = await start();
  await suspendUser(test.app, email);
  expect(await readSession(test.app, id)).toBeNull();
  await restoreUser(test.app, email);
  expect(await readSession(test.app, id)).toBeNull();
});

it.each<[string, (made: Awaited<ReturnType<typeof start>>) => Promise<unknown>]>([
  ['user', ({ email }) => suspendUser(test.app, email)],
  ['organisation', ({ principal }) => suspendOrganisation(test.app, principal.organisation?.slug ?? '')],
])('no session starts for a suspended %s', async (_, suspend) => {
  const made = await start();
  await suspend(made);
  await expect(startSession(test.app, { ...made, client: testClient })).rejects.toMatchObject({
    code: 'FORBIDDEN',
    message: 'This account is closed.',
  });
  expect(await test.app.db.$count(sessions, eq(sessions.userId, made.userId))).toBe(0);
});

it('a start of a session waits for a concurrent suspension, and fails', async () => {
  const made = await start();
  const racing = await test.app.db.transaction(async (tx) => {
    await tx
      .update(organisations)
      .set({ suspendedAt: test.app.now() })
      .where(eq(organisations.id, made.organisationId));
    const starting = startSession(test.app, { ...made, client: testClient });
    void starting.catch(() => {});
    await waitingForLocks(test, 1);
    return { starting };
  });
  await expect(racing.starting).rejects.toMatchObject({ code: 'FORBIDDEN' });
});

it('the audit log records the start of a session as a sign-in with its method, and no rejected one', async () => {
  const { userId, organisationId } = await start();
  await linkSubject(test, userId, userId);
  const [user] = await test.app.db.select().from(users).where(eq(users.id, userId));
  const begin = (by: object) => startSession(test.app, { userId, organisationId, client: testClient, ...by });
  const signIns = () =>
    test.app.db
      .select({ details: auditEvents.details, client: auditEvents.client })
      .from(auditEvents)
      .where(and(eq(auditEvents.actorId, userId), eq(auditEvents.action, 'signed-in')))
      .orderBy(desc(auditEvents.id));

  const before = await signIns();
  for (const by of [{ passwordHash: 'another' }, { idpSubject: 'another' }]) {
    await expect(begin(by)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  }
  expect(await signIns()).toEqual(before);

  const ways = [
    [{ passwordHash: user?.passwordHash }, 'password'],
    [{ idpSubject: userId }, 'identity provider'],
  ] as const;
  for (const [by, way] of ways) {
    await begin(by);
    test.advance(1);
    expect((await signIns())[0]).toEqual({ details: { with: way }, client: testClient.address });
  }
  expect(await signIns()).toHaveLength(before.length + 2);
});

it('a session ends by its token, or by its id for its own user alone', async () => {
  const one = await start();
  const other = await start();
  const [named] = await listSessions(test.app, one.userId);
  expect(await deleteSessionById(test.app.db, other.userId, named?.id ?? '')).toBe(false);
  expect(await readSession(test.app, one.id)).not.toBeNull();

  await deleteSession(test.app, one.id);
  expect(await readSession(test.app, one.id)).toBeNull();
});

it('a session expires after thirty days', async () => {
  const late = await startTestApp();
  const { userId, organisationId } = await makeOwner(late);
  const id = await startSession(late.app, { userId, organisationId, client: testClient });
  late.advance(30 * dayMilliseconds + 1000);
  expect(await readSession(late.app, id)).toBeNull();
  await late.close();
});

it('a session has a second token that verifies it, and permits nothing else', async () => {
  const { id, email } = await start();
  const shared = await shareSession(test.app, id);

  expect(await readSharedSession(test.app, shared)).toMatchObject({
    user: { email },
    scopes: ['READ', 'WRITE', 'ADMIN'],
  });
  expect(await readSession(test.app, shared)).toBeNull();
  expect(await readSharedSession(test.app, id)).toBeNull();
  expect(JSON.stringify(await test.app.db.select().from(sessions))).not.toContain(shared);
});

it.each<[string, (made: Awaited<ReturnType<typeof start>>) => Promise<unknown>]>([
  ['sign-out', ({ id }) => deleteSession(test.app, id)],
  ['suspension', ({ email }) => suspendUser(test.app, email)],
  [
    '“end all others” from another browser',
    ({ userId }) => deleteOtherSessions(test.app.db, userId, newId(test.app.now())),
  ],
  [
    'being ended by id',
    async ({ userId }) => {
      for (const { id } of await listSessions(test.app, userId)) await deleteSessionById(test.app.db, userId, id);
    },
  ],
])('the second token of a session ends at %s', async (_, end) => {
  const made = await start();
  const shared = await shareSession(test.app, made.id);
  expect(await readSharedSession(test.app, shared)).not.toBeNull();
  await end(made);
  expect(await readSharedSession(test.app, shared)).toBeNull();
});

it.each(['session’s own', 'second'] as const)(
  'a session lasts for thirty days from a use in their second half, by its %s token, and ninety at most',
  async (which) => {
    const late = await startTestApp();
    const { userId, organisationId } = await makeOwner(late);
    const id = await startSession(late.app, { userId, organisationId, client: testClient });
    const shared = await shareSession(late.app, id);
    const use = () => (which === 'second' ? readSharedSession(late.app, shared) : readSession(late.app, id));
    const thisOne = eq(sessions.idHash, hashToken(id));
    async function version() {
      const [row] = await late.app.db
        .select({ version: sql`xmin`, until: sessions.expiresAt })
        .from(sessions)
        .where(thisOne);
      return row;
    }

    const started = await version();
    late.advance(14 * dayMilliseconds);
    expect(await use()).not.toBeNull();
    // Not extended in the first half of its lifetime: only its use is written.
    expect((await version())?.until).toEqual(started?.until);

    for (const days of [2, 29.9, 29.9]) {
      late.advance(days * dayMilliseconds);
      expect(await use()).not.toBeNull();
    }
    late.advance(13 * dayMilliseconds);
    expect(await use()).not.toBeNull();
    const end = (await version())?.until;
    late.advance(dayMilliseconds);
    expect(await use()).not.toBeNull();
    const last = await version();
    expect(last?.until).toEqual(end);
    // A use within ten minutes of the last writes nothing.
    expect(await use()).not.toBeNull();
    expect(await version()).toEqual(last);

    late.advance(0.5 * dayMilliseconds);
    expect(await use()).toBeNull();
    await late.close();
  },
);

it('a session that is only looked at is neither extended nor ended', async () => {
  const late = await startTestApp();
  const { userId, organisationId } = await makeOwner(late);
  const id = await startSession(late.app, { userId, organisationId, client: testClient });
  const stored = () =>
    late.app.db
      .select()
      .from(sessions)
      .where(eq(sessions.idHash, hashToken(id)));

  const before = await stored();
  late.advance(20 * dayMilliseconds);
  expect(await readSession(late.app, id, { readOnly: true })).not.toBeNull();
  expect(await stored()).toEqual(before);
  late.advance(20 * dayMilliseconds);
  expect(await readSession(late.app, id, { readOnly: true })).toBeNull();
  expect(await stored()).toEqual(before);

  expect(await readSession(late.app, id)).toBeNull();
  expect(await stored()).toEqual([]);
  await late.close();
});
