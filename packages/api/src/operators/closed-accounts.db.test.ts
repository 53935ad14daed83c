import { and, eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { accountById } from '../auth/sessions/account.ts';
import { readSession, startSession } from '../auth/sessions/session.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { makeOwner, testClient } from '../testing/factories.ts';
import { commandLine } from './actor.ts';
import { grantOperator } from './grant-operator.ts';
import { restoreOrganisation, suspendOrganisation } from './organisations/suspend-organisation.ts';
import { createPasswordLink } from './users/create-password-link.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

/** Makes the owner of an organisation, who is a member of another one and whose session acts for that one. */
async function makeGuest() {
  const [own, other] = [await makeOwner(test), await makeOwner(test)];
  const { userId } = own;
  const { organisationId } = other;
  await test.app.db.insert(memberships).values({ userId, organisationId, role: 'member', createdAt: test.app.now() });
  const session = await startSession(test.app, { userId, organisationId, client: testClient });
  return { own, other, session };
}

it('closing a user’s last organisation ends the session that acted for one which the user has left', async () => {
  const { own, other, session } = await makeGuest();
  const { userId, organisationId } = own;
  await test.app.db
    .delete(memberships)
    .where(and(eq(memberships.userId, userId), eq(memberships.organisationId, other.organisationId)));

  await suspendOrganisation(test.app, { organisationId }, commandLine);
  expect(await accountById(test.app.db, userId)).toMatchObject({ accountStatus: 'closed' });
  await restoreOrganisation(test.app, { organisationId }, commandLine);
  expect(await readSession(test.app, session)).toBeNull();
});

it('closing one of a user’s organisations leaves the session that acts for another one', async () => {
  const { own, other, session } = await makeGuest();
  await suspendOrganisation(test.app, { organisationId: own.organisationId }, commandLine);
  expect(await readSession(test.app, session)).toMatchObject({ organisationId: other.organisationId });
});

it.each([
  ['a password link', createPasswordLink],
  ['the mark of an operator', grantOperator],
])('a user who is suspended at the same moment does not get %s', async (_what, act) => {
  const { userId } = await makeOwner(test);
  let acted: Promise<unknown> | undefined;
  await test.app.db.transaction(async (tx) => {
    await tx.update(users).set({ suspendedAt: test.app.now() }).where(eq(users.id, userId));
    acted = act(test.app, { userId }, commandLine).catch((error: unknown) => error);
    await new Promise((resolve) => setTimeout(resolve, 300));
  });
  expect(await acted).toMatchObject({ code: 'VALIDATION' });
});
