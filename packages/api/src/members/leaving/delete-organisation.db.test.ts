import { eq } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { readSession, startSession } from '../../auth/sessions/session.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { auditEvents } from '../../platform/db/schema/audit.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { ownedBy } from '../../testing/billing.ts';
import { waitingForLocks } from '../../testing/database/waiting-for-locks.ts';
import {
  addMember,
  makeAccount,
  makeInvitation,
  makeOwner,
  testClient,
  testPassword,
} from '../../testing/factories.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';

const test = useBillingTest();
type Owner = Awaited<ReturnType<typeof makeOwner>>;
const password = testPassword;

function remove({ api, organisationId }: Owner) {
  return api.leaving.deleteOrganisation({ organisation_id: organisationId, password });
}

function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'done',
    (error) => error.cause.code,
  );
}

async function exists(organisationId: string): Promise<boolean> {
  return (await test.app.db.$count(organisations, eq(organisations.id, organisationId))) === 1;
}

it('deletes the organisation, ends its plan at the provider, and keeps the accounts', async () => {
  const owner = await makeOwner(test);
  const { userId } = await addMember(test, owner.organisationId, 'member');
  const session = await startSession(test.app, { userId, organisationId: owner.organisationId, client: testClient });
  test.sandbox.payment.payCheckout((await owner.api.billing.checkout({ tier: 'silver' })).url);
  await test.settled();
  await remove(owner);

  expect(await exists(owner.organisationId)).toBe(false);
  expect(ownedBy(test, owner.principal).subscriptions.map(({ status }) => status)).toEqual(['canceled']);
  expect(await readSession(test.app, session)).toMatchObject({
    organisation: null,
    scopes: [],
    accountStatus: 'active',
  });
  expect(await test.app.db.$count(users, eq(users.id, owner.userId))).toBe(1);
  const entries = await test.app.db
    .select()
    .from(auditEvents)
    .where(eq(auditEvents.organisationId, owner.organisationId));
  expect(entries).toContainEqual(expect.objectContaining({ action: 'organisation-deleted', actorId: owner.userId }));
  await test.settled();
});

it('ends no plan for who is no longer the owner when the password has been checked', async () => {
  const owner = await makeOwner(test);
  test.sandbox.payment.payCheckout((await owner.api.billing.checkout({ tier: 'silver' })).url);
  await test.settled();
  await test.app.db.update(memberships).set({ role: 'member' }).where(eq(memberships.userId, owner.userId));
  // The request began before.
  expect(await codeOf(remove(owner))).toBe('FORBIDDEN');
  expect(ownedBy(test, owner.principal).subscriptions.map(({ status }) => status)).toEqual(['active']);
});

it('deletes nothing for another role, a wrong password, or while the provider does not answer', async () => {
  const owner = await makeOwner(test);
  const { organisationId: organisation_id } = owner;
  await owner.api.billing.checkout({ tier: 'silver' });
  const admin = await addMember(test, organisation_id, 'admin');
  expect(await codeOf(remove(admin))).toBe('FORBIDDEN');
  const wrong = { organisation_id, password: 'not the pass phrase' };
  expect(await codeOf(owner.api.leaving.deleteOrganisation(wrong))).toBe('UNAUTHENTICATED');
  test.sandbox.payment.set({ api_failure: 500 });
  expect(await codeOf(remove(owner))).toBe('PROVIDER_UNAVAILABLE');
  expect(await exists(organisation_id)).toBe(true);
});

it('deletes nothing for an owner who transferred the ownership meanwhile', async () => {
  const owner = await makeOwner(test);
  const { organisationId: organisation_id } = owner;
  const { email } = await addMember(test, organisation_id, 'member');
  const [deleted, transferred] = await Promise.all([
    codeOf(remove(owner)),
    codeOf(owner.api.organisations.transfer({ organisation_id, email, password })),
  ]);
  expect([deleted, transferred]).toContain('done');
  expect(await exists(organisation_id)).toBe(deleted !== 'done');
});

it('succeeds or is refused as BUSY while members join, switch and leave, and never deadlocks', async () => {
  for (let round = 0; round < 3; round++) {
    const owner = await makeOwner(test);
    const { organisationId: organisation_id } = owner;
    const [token, own, joining] = [await makeInvitation(owner), await makeOwner(test), await makeAccount(test)];
    const belongs = { userId: own.userId, organisationId: organisation_id, createdAt: test.app.now() };
    await test.app.db.insert(memberships).values({ ...belongs, role: 'member' });
    const leaving = await addMember(test, organisation_id, 'member');
    await test.app.db.update(users).set({ lastOrganisationId: organisation_id }).where(eq(users.id, joining.userId));
    const ended = await Promise.all([
      codeOf(remove(owner)),
      codeOf(joining.api.members.join({ token })),
      codeOf(own.api.organisations.switch({ organisation_id })),
      codeOf(leaving.api.members.leave({ organisation_id })),
    ]);
    expect(ended).not.toContain('INTERNAL');
    if (ended[0] !== 'done') expect(ended[0]).toBe('BUSY');
    expect(await exists(organisation_id)).toBe(ended[0] !== 'done');
  }
});

it('a switch to an organisation whose deletion commits meanwhile finds none', async () => {
  const [deleted, own] = [await makeOwner(test), await makeOwner(test)];
  const { organisationId: organisation_id } = deleted;
  const belongs = { userId: own.userId, organisationId: organisation_id, createdAt: test.app.now() };
  await test.app.db.insert(memberships).values({ ...belongs, role: 'member' });
  let switched: Promise<string> | undefined;
  await test.app.db.transaction(async (tx) => {
    await tx.delete(organisations).where(eq(organisations.id, organisation_id));
    switched = codeOf(own.api.organisations.switch({ organisation_id }));
    await waitingForLocks(test, 1);
  });
  expect(await switched).toBe('NOT_FOUND');
});

it('deletes nothing if a member has bought a plan since the plans were ended, and ends that one with the next attempt', async () => {
  const owner = await makeOwner(test);
  const admin = await addMember(test, owner.organisationId, 'admin');
  const removal = await test.app.db.transaction(async (tx) => {
    // The deletion has ended the plans and waits for its locks.
    await tx.select().from(users).where(eq(users.id, owner.userId)).for('update');
    const result = codeOf(remove(owner));
    await waitingForLocks(test, 1);
    test.sandbox.payment.payCheckout((await admin.api.billing.checkout({ tier: 'gold' })).url);
    await test.settled();
    return { result };
  });
  expect(await removal.result).toBe('BUSY');
  expect(await exists(owner.organisationId)).toBe(true);

  expect(await codeOf(remove(owner))).toBe('done');
  expect(ownedBy(test, owner.principal).subscriptions.map(({ status }) => status)).toEqual(['canceled']);
});
