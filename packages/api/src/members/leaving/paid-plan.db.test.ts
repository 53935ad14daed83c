import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { users } from '../../platform/db/schema/accounts.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { ownedBy } from '../../testing/billing.ts';
import { waitingForLocks } from '../../testing/database/waiting-for-locks.ts';
import { addMember, linkSubject, makeOwner, signInAs, testPassword } from '../../testing/factories.ts';
import { makeKey } from '../../testing/keys.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { eraseOrganisation } from './delete-organisation.ts';
import { eraseUser } from './erase-user.ts';

const test = useBillingTest();
type Owner = Awaited<ReturnType<typeof makeOwner>>;

/** An owner whose organisation pays for a plan. */
async function makePaying(): Promise<Owner> {
  const owner = await makeOwner(test);
  test.sandbox.payment.payCheckout((await owner.api.billing.checkout({ tier: 'silver' })).url);
  await test.settled();
  return owner;
}

function leave({ api }: Owner, password = testPassword) {
  return api.leaving.deleteAccount({ password });
}

function atProvider({ principal }: Owner) {
  return ownedBy(test, principal).subscriptions.map(({ status }) => status);
}

async function remains({ userId, organisationId }: Owner) {
  const people = await test.app.db.select().from(users).where(eq(users.id, userId));
  const theirs = await test.app.db.select().from(organisations).where(eq(organisations.id, organisationId));
  return { person: people.length === 1, organisation: theirs.length === 1 };
}

it('a key deletes a sole owner who left a checkout open, and none whose subscription lives', async () => {
  const { api } = await makeKey(test, { scope: 'MANAGE' });
  const open = await makeOwner(test);
  await open.api.billing.checkout({ tier: 'silver' });
  expect(await api.management.deleteUser({ user_id: open.userId })).toEqual({ ok: true });
  expect(await remains(open)).toEqual({ person: false, organisation: false });
  const paying = await makePaying();
  await expect(api.management.deleteUser({ user_id: paying.userId })).rejects.toMatchObject({ code: 'CONFLICT' });
});

describe('deleting the account of a user whose organisation pays', () => {
  it('shows the plan beforehand, and ends the subscription at the provider', async () => {
    const owner = await makePaying();
    expect(await owner.api.leaving.deletion()).toMatchObject({ ends: [{ tier: 'silver', tier_name: 'Silver' }] });
    expect(atProvider(owner)).toEqual(['active']);

    await leave(owner);
    expect(atProvider(owner)).toEqual(['canceled']);
    expect(await remains(owner)).toEqual({ person: false, organisation: false });
    // Later events about the customer belong to no organisation, and are no failure.
    await test.settled();
  });

  it('closes a checkout that is still open', async () => {
    const owner = await makeOwner(test);
    await owner.api.billing.checkout({ tier: 'gold' });
    await leave(owner);
    expect(ownedBy(test, owner.principal).sessions.map(({ status }) => status)).toEqual(['expired']);
  });

  it.each([500, 'close'] as const)(
    'deletes nothing while the provider answers with %s, and says why',
    async (fault) => {
      const owner = await makePaying();
      test.sandbox.payment.set({ api_failure: fault });
      await expect(leave(owner)).rejects.toMatchObject({ cause: { code: 'PROVIDER_UNAVAILABLE' } });
      expect(await remains(owner)).toEqual({ person: true, organisation: true });

      test.sandbox.payment.set({ api_failure: null });
      expect(atProvider(owner)).toEqual(['active']);
      await leave(owner);
      expect(atProvider(owner)).toEqual(['canceled']);
      expect(await remains(owner)).toEqual({ person: false, organisation: false });
    },
  );

  it('succeeds if the provider has deleted the customer, also without an event of it', async () => {
    for (const forgetsSubscription of [false, true]) {
      const owner = await makePaying();
      const [subscription] = ownedBy(test, owner.principal).subscriptions;
      test.sandbox.payment.set({ drop_deliveries: true });
      await test.app.payment?.ask((provider) => provider.customers.del(String(subscription?.customer)));
      if (forgetsSubscription) delete test.sandbox.payment.state().subscriptions[subscription?.id ?? ''];
      await leave(owner);
      expect(await remains(owner)).toEqual({ person: false, organisation: false });
      test.sandbox.payment.resetSwitches();
    }
  });

  it('is refused while the provider does not know the customer: its plan may continue under another key', async () => {
    const owner = await makePaying();
    const { customers, subscriptions } = test.sandbox.payment.state();
    for (const { id, customer } of ownedBy(test, owner.principal).subscriptions) {
      delete customers[String(customer)];
      delete subscriptions[id];
    }
    await expect(leave(owner)).rejects.toMatchObject({ cause: { code: 'PROVIDER_UNAVAILABLE' } });
    expect(await remains(owner)).toEqual({ person: true, organisation: true });
  });

  it('ends no plan if that of another organisation cannot be ended', async () => {
    const owner = await makePaying();
    const other = await makePaying();
    const owns = { userId: owner.userId, organisationId: other.organisationId, role: 'owner' as const };
    await test.app.db.delete(memberships).where(eq(memberships.organisationId, other.organisationId));
    await test.app.db.insert(memberships).values({ ...owns, createdAt: test.app.now() });
    const { customers, subscriptions } = test.sandbox.payment.state();
    for (const { id, customer } of ownedBy(test, other.principal).subscriptions) {
      delete customers[String(customer)];
      delete subscriptions[id];
    }
    await expect(leave(owner)).rejects.toMatchObject({ cause: { code: 'PROVIDER_UNAVAILABLE' } });
    expect(atProvider(owner)).toEqual(['active']);
    expect(await remains(owner)).toEqual({ person: true, organisation: true });
  });

  it('keeps the plan of an organisation with another owner', async () => {
    const owner = await makePaying();
    await addMember(test, owner.organisationId, 'owner');
    await leave(owner);
    expect(atProvider(owner)).toEqual(['active']);
    expect(await remains(owner)).toEqual({ person: false, organisation: true });
  });

  it('ends nothing for a wrong password', async () => {
    const owner = await makePaying();
    await expect(leave(owner, 'not the pass phrase')).rejects.toMatchObject({ cause: { code: 'UNAUTHENTICATED' } });
    expect(atProvider(owner)).toEqual(['active']);
    expect(await remains(owner)).toEqual({ person: true, organisation: true });
  });
});

it.each<[string, (owner: Owner, isStillWanted: () => Promise<boolean>) => Promise<unknown>]>([
  [
    'an organisation',
    ({ organisationId }, isStillWanted) => eraseOrganisation(test.app, organisationId, isStillWanted),
  ],
  ['a user', ({ userId }, isStillWanted) => eraseUser(test.app, { userId }, { actorId: null, isStillWanted })],
])('an erasure of %s by a rule that no longer applies ends no subscription', async (_, erase) => {
  const owner = await makePaying();
  await expect(erase(owner, async () => false)).rejects.toMatchObject({ code: 'BUSY' });
  expect(atProvider(owner)).toEqual(['active']);
  expect(await remains(owner)).toEqual({ person: true, organisation: true });
});

it('requires a fresh session of a user without a password', async () => {
  const owner = await makeOwner(test);
  await test.app.db.update(users).set({ passwordHash: null }).where(eq(users.id, owner.userId));
  await linkSubject(test, owner.userId, owner.email);
  test.advance(16 * 60_000);
  await expect(owner.api.leaving.deleteAccount({})).rejects.toMatchObject({
    cause: { code: 'FRESH_SIGN_IN_REQUIRED' },
  });
  expect(await remains(owner)).toEqual({ person: true, organisation: true });

  const { api } = await signInAs(test, owner.email);
  expect(await api.leaving.deleteAccount({})).toEqual({ ok: true });
  expect(await remains(owner)).toEqual({ person: false, organisation: false });
});

it('keeps an organisation that a user joins while its owner leaves', async () => {
  const owner = await makeOwner(test);
  const { userId } = await makeOwner(test);
  const { organisationId } = owner;
  const leaving = await test.app.db.transaction(async (tx) => {
    const now = test.app.now();
    await tx.insert(memberships).values({ userId, organisationId, role: 'member', createdAt: now });
    const begun = leave(owner).then(
      () => 'left',
      (error) => error.cause?.code,
    );
    await waitingForLocks(test, 1);
    return { begun };
  });
  expect(await leaving.begun).toMatch(/^(VALIDATION|BUSY)$/);
  expect(await remains(owner)).toEqual({ person: true, organisation: true });
});
