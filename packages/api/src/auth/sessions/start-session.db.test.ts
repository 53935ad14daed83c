import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { accountStatusOf } from '../../organisations/account-status.ts';
import { knownBrowsers, users } from '../../platform/db/schema/accounts.ts';
import { auditEvents } from '../../platform/db/schema/audit.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { newToken } from '../../platform/security/token.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { makeOwner, testClient } from '../../testing/factories.ts';
import { lockUser } from './account.ts';
import { startSession } from './session.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

/** An owner without a session and a known browser, and what starts a session as after a right password. */
async function makeUser() {
  const { app } = test;
  const { userId, organisationId } = await makeOwner(test);
  await app.db.delete(sessions).where(eq(sessions.userId, userId));
  await app.db.delete(knownBrowsers).where(eq(knownBrowsers.userId, userId));
  const [user] = await app.db.select().from(users).where(eq(users.id, userId));
  const passwordHash = user?.passwordHash ?? null;
  const start = (browserHash: string | null = newToken()) =>
    startSession(app, { userId, organisationId, passwordHash, browserHash, client: testClient });
  const count = () => app.db.$count(sessions, eq(sessions.userId, userId));
  const countBrowsers = () => app.db.$count(knownBrowsers, eq(knownBrowsers.userId, userId));
  return { userId, organisationId, start, count, countBrowsers };
}

const countWaiting = async () => {
  const waiting = await test.app
    .sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return waiting.count;
};

it('a sign-in with a password writes session, browser and audit entry', async () => {
  const { userId, organisationId, start, count, countBrowsers } = await makeUser();
  await start();
  expect([await count(), await countBrowsers()]).toEqual([1, 1]);
  const [session] = await test.app.db.select().from(sessions).where(eq(sessions.userId, userId));
  expect(session).toMatchObject({ organisationId, client: testClient.address, idpSubject: null });
  const recorded = await test.app.db.select().from(auditEvents).where(eq(auditEvents.userId, userId));
  expect(recorded.filter(({ action }) => action === 'signed-in').at(-1)).toMatchObject({
    actorId: userId,
    organisationId,
    client: testClient.address,
    details: { with: 'password' },
  });
});

it('starts a session exactly where the rule of accounts allows it', async () => {
  const { app } = test;
  const { userId, organisationId, start, count } = await makeUser();
  for (const { user, organisation } of everyState()) {
    await app.db.delete(sessions).where(eq(sessions.userId, userId));
    await app.db.update(users).set(user).where(eq(users.id, userId));
    await app.db.update(organisations).set(organisation).where(eq(organisations.id, organisationId));
    const status = accountStatusOf(user, organisation);
    const result = await start().catch(() => null);
    const state = JSON.stringify({ user, organisation });
    expect([result !== null, await count()], state).toEqual(
      status === 'active' || status === 'awaiting_approval' ? [true, 1] : [false, 0],
    );
  }
});

function everyState() {
  const moments = [null, test.app.now()];
  const users = moments.flatMap((emailVerifiedAt) =>
    moments.flatMap((suspendedAt) =>
      [false, true].map((invitedOnly) => ({ emailVerifiedAt, suspendedAt, invitedOnly })),
    ),
  );
  const organisations = (['pending', 'approved', 'declined'] as const).flatMap((approval) =>
    moments.map((suspendedAt) => ({ approval, suspendedAt })),
  );
  return users.flatMap((user) => organisations.map((organisation) => ({ user, organisation })));
}

it('a sign-in ends an expired session of the user', async () => {
  const { app } = test;
  const { userId, start, count } = await makeUser();
  await start();
  await app.db.update(sessions).set({ expiresAt: app.now() }).where(eq(sessions.userId, userId));
  await start();
  expect(await count()).toBe(1);
});

it('a sign-in that waits for the organisation sees its suspension, and starts no session', async () => {
  const { organisationId, start, count } = await makeUser();
  let started: Promise<string> | undefined;
  await test.app.db.transaction(async (tx) => {
    await tx.update(organisations).set({ suspendedAt: test.app.now() }).where(eq(organisations.id, organisationId));
    started = start();
    started.catch(() => {});
    await expect.poll(countWaiting).toBe(1);
  });
  await expect(started).rejects.toMatchObject({ code: 'FORBIDDEN' });
  expect(await count()).toBe(0);
});

it('a sign-in that waits for the user sees the change of the password, and starts no session', async () => {
  const { userId, start, count } = await makeUser();
  let started: Promise<string> | undefined;
  await test.app.db.transaction(async (tx) => {
    await tx.update(users).set({ passwordHash: 'another hash' }).where(eq(users.id, userId));
    started = start();
    started.catch(() => {});
    await expect.poll(countWaiting).toBe(1);
  });
  await expect(started).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  expect(await count()).toBe(0);
});

it('a sign-in that waits for the user counts the sessions and browsers of those before it', async () => {
  const { app } = test;
  const { userId, organisationId, start, count, countBrowsers } = await makeUser();
  let started: Promise<string> | undefined;
  await app.db.transaction(async (tx) => {
    await lockUser(tx, userId);
    started = start();
    await expect.poll(countWaiting).toBe(1);
    const times = { createdAt: app.now(), expiresAt: new Date(app.now().getTime() + dayMilliseconds) };
    await tx.insert(sessions).values(
      Array.from({ length: 50 }, () => ({
        ...times,
        lastUsedAt: times.createdAt,
        userId,
        organisationId,
        id: crypto.randomUUID(),
        idHash: newToken(),
      })),
    );
    await tx.insert(knownBrowsers).values(
      Array.from({ length: 20 }, () => ({
        userId,
        tokenHash: newToken(),
        signedInAt: app.now(),
        firstSignedInAt: app.now(),
      })),
    );
  });
  await started;
  expect([await count(), await countBrowsers()]).toEqual([50, 20]);
});

it('of many sign-ins at once, each gets a session, and the user keeps fifty of them and twenty browsers', async () => {
  const { start, count, countBrowsers } = await makeUser();
  const ids = await Promise.all(Array.from({ length: 70 }, () => start()));
  expect(new Set(ids).size).toBe(70);
  expect([await count(), await countBrowsers()]).toEqual([50, 20]);
});

it('locks the user before the organisation, as every transaction does', async () => {
  const { userId, organisationId, start } = await makeUser();
  let started: Promise<string> | undefined;
  await test.app.db.transaction(async (tx) => {
    await lockUser(tx, userId);
    started = start();
    await expect.poll(countWaiting).toBe(1);
    // Fails if the waiting sign-in holds the organisation's row.
    await tx.select().from(organisations).where(eq(organisations.id, organisationId)).for('update', { noWait: true });
  });
  await expect(started).resolves.toMatch(/./);
});

it('names no organisation that was deleted since the user proved the credentials', async () => {
  const { app } = test;
  const { userId, organisationId } = await makeOwner(test);
  await app.db.delete(sessions).where(eq(sessions.userId, userId));
  await app.db.delete(organisations).where(eq(organisations.id, organisationId));

  await startSession(app, { userId, organisationId, browserHash: 'a hash', client: testClient });
  const [started] = await app.db.select().from(sessions).where(eq(sessions.userId, userId));
  const [recorded] = await app.db
    .select()
    .from(auditEvents)
    .where(eq(auditEvents.userId, userId))
    .orderBy(sql`at desc, id desc`);
  expect(started).toMatchObject({ organisationId: null, client: testClient.address });
  expect(recorded).toMatchObject({ action: 'signed-in', actorId: userId, organisationId: null });
});
