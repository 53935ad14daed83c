import { eq, inArray } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { findUser } from '../../operators/find-accounts.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { auditEvents } from '../../platform/db/schema/audit.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { declineOwner, suspendUser } from '../../testing/admin-commands.ts';
import { ownedBy } from '../../testing/billing.ts';
import { waitingForLocks } from '../../testing/database/waiting-for-locks.ts';
import { addMember, makeOwner, makeSignUp, signUpOwner } from '../../testing/factories.ts';
import { deliver, makeEvent } from '../../testing/payment/payment-events.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { eraseDeclined } from './erase-declined.ts';
import { eraseUser } from './erase-user.ts';
import { exportUser } from './export.ts';
import { foundInDatabase } from './testing/found-in-database.ts';

const test = useBillingTest();
const command = { actorId: null };

type Owner = Awaited<ReturnType<typeof makeOwner>>;

/** Leaves the user's address and name in as many places as the service has, in another organisation too. */
async function leaveTraces(user: Owner, colleague: Owner, name: string): Promise<void> {
  const { email } = user;
  const { organisationId: organisation_id } = colleague;
  await user.api.accounts.changeName({ name });
  await user.api.organisations.rename({ organisation_id: user.organisationId, name: `${name} Ltd` });
  test.sandbox.payment.payCheckout((await user.api.billing.checkout({ tier: 'silver' })).url);
  test.sandbox.payment.payCheckout((await colleague.api.billing.checkout({ tier: 'gold' })).url);
  await test.settled();
  await colleague.api.members.invite({ organisation_id, role: 'member', note: `For ${name}, ${email}` });
  await colleague.api.organisations.changeBillingContact({ organisation_id, email });
  const { suspend, restore } = colleague.api.operators;
  const { suspended_at } = await suspend({ user_id: user.userId, reason: `${name} asked for it.` });
  await restore({ user_id: user.userId, suspended_at });
  await test.settled();

  const customers = [user, colleague].map(({ principal }) => ownedBy(test, principal).customers[0]?.id);
  for (const customer of [...customers, 'cus_of_another_product']) {
    const invoice = { id: `in_${customer}`, customer, customer_email: email.toUpperCase(), customer_name: name };
    await deliver(test.app, makeEvent(test.app, 'invoice.paid', invoice));
  }
}

/** Where the test leaves traces: a place that is missing here is not tested. */
const places = {
  address: [
    'pgboss.job.data',
    'pgboss.job_common.data',
    'public.invitations.note',
    'public.organisations.billing_email',
    'public.payment_customers.contact_email',
    'public.payment_events.payload',
    'public.users.email',
    'public.verification_links.email',
  ],
  name: [
    'public.audit_events.details',
    'public.changes.data',
    'public.invitations.note',
    'public.organisations.name',
    'public.payment_events.payload',
    'public.users.name',
  ],
};

/** A colleague's note, and events of the payment provider about the colleague's organisation. */
const notErased = ['public.invitations.note', 'public.payment_events.payload'];

it('keeps roles and plan names in audit entries although the user’s name equals one', async () => {
  const owner = await makeOwner(test);
  const { organisationId: organisation_id } = owner;
  const member = await addMember(test, organisation_id, 'member');
  await owner.api.members.changeRole({ organisation_id, user_id: member.userId, role: 'admin' });
  await member.api.accounts.changeName({ name: 'Admin' });
  await eraseUser(test.app, { userId: member.userId }, command);

  const entries = await test.app.db.select().from(auditEvents).where(eq(auditEvents.organisationId, organisation_id));
  expect(entries.find(({ action }) => action === 'role-changed')?.details).toEqual({ from: 'member', to: 'admin' });
});

it('after an erasure only what others wrote contains the address or the name', async () => {
  const name = 'Wilhelmina Quistø';
  const colleague = await makeOwner(test, { operator: true });
  const user = await signUpOwner(test);
  await addMembership(user, colleague.organisationId, 'admin');
  await leaveTraces(user, colleague, name);
  expect(await foundInDatabase(test.app, user.email)).toEqual(places.address);
  expect(await foundInDatabase(test.app, name)).toEqual(places.name);

  expect(await eraseUser(test.app, user, command)).toMatchObject({ slugs: [expect.stringMatching(/^company/)] });
  await test.settled();
  for (const text of [user.email, name]) {
    expect([text, await foundInDatabase(test.app, text)]).toEqual([text, notErased]);
  }
});

it.each(['awaiting', 'declined', 'suspended', 'unverified'] as const)(
  'an account that is %s is erased',
  async (status) => {
    const { email } = status === 'unverified' ? await makeSignUp(test) : await makeOwner(test, { approved: false });
    const { id: userId } = await findUser(test.app.db, email);
    if (status === 'declined') await declineOwner(test.app, email, `We know ${email}.`);
    if (status === 'suspended') await suspendUser(test.app, email);

    expect(await exportUser(test.app, userId)).toMatchObject({ user: { email } });
    await eraseUser(test.app, { userId }, command);
    expect(await foundInDatabase(test.app, email)).toEqual([]);
    expect(await exportUser(test.app, userId)).toBeNull();
  },
);

it('the plan of others stays, and the audit log keeps actions and ids', async () => {
  const colleague = await makeOwner(test, { operator: true });
  const user = await makeOwner(test);
  await addMembership(user, colleague.organisationId, 'admin');
  await leaveTraces(user, colleague, 'Ines');
  const before = await colleague.api.subscription.read();
  const entries = await auditOf(user.userId);

  await eraseUser(test.app, user, command);
  expect(await colleague.api.subscription.read()).toEqual({ ...before, usage: expect.anything() });
  const kept = await auditOf(user.userId);
  expect(kept.map(({ action }) => action)).toEqual([...entries.map(({ action }) => action), 'account-deleted']);
  expect(kept.filter(({ client, userAgent }) => client ?? userAgent)).toMatchObject([
    { actorId: colleague.userId, action: 'person-suspended' },
    { actorId: colleague.userId, action: 'person-restored' },
  ]);
});

it('of a user who alone owns an organisation with members, only an explicit request erases both', async () => {
  const user = await makeOwner(test);
  const member = await addMember(test, user.organisationId, 'member');
  await expect(eraseUser(test.app, user, command)).rejects.toMatchObject({ code: 'VALIDATION' });
  expect(await eraseUser(test.app, user, { ...command, withMembers: true })).toMatchObject({
    slugs: [expect.anything()],
  });
  expect(await test.app.db.$count(users, eq(users.id, member.userId))).toBe(1);
});

it('all declined requests of the retention are erased in one run, and one that fails prevents no other', async () => {
  const { sql } = test.app;
  await sql`
    insert into organisations (id, slug, name, approval, created_at, declined_at)
    select gen_random_uuid(), 'backlog-' || n, 'Backlog', 'declined', now(), now() from generate_series(1, 205) as n`;
  await sql`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`;
  await sql`
    create trigger refuse before delete on organisations
    for each row when (old.slug = 'backlog-1') execute function refuse()`;
  const later = { ...test.app, now: () => new Date(Date.now() + 401 * dayMilliseconds) };
  expect(await eraseDeclined(later)).toBe(204);
  await sql`drop trigger refuse on organisations`;
  expect(await eraseDeclined(later)).toBe(1);
});

it('a declined request that an operator approves while it is erased stays, with its owner', async () => {
  const declined = await makeOwner(test, { approved: false });
  await declineOwner(test.app, declined.email, 'No.');
  const later = { ...test.app, now: () => new Date(Date.now() + 401 * dayMilliseconds) };
  const { sql } = test.app;
  const erased = await sql.begin(async (tx) => {
    await tx`
      update organisations set approval = 'approved', declined_at = null, approved_at = now()
      where id = ${declined.organisationId}`;
    const erasing = eraseDeclined(later);
    await waitingForLocks(test, 1);
    return { erasing };
  });
  expect(await erased.erasing).toBe(0);
  expect(await test.app.db.$count(users, eq(users.id, declined.userId))).toBe(1);
  expect(await test.app.db.$count(organisations, eq(organisations.id, declined.organisationId))).toBe(1);
});

it('a member of a declined request who is added elsewhere while it is erased stays', async () => {
  const declined = await makeOwner(test, { approved: false });
  const other = await makeOwner(test);
  await declineOwner(test.app, declined.email, 'No.');
  const later = { ...test.app, now: () => new Date(Date.now() + 401 * dayMilliseconds) };
  const erased = await test.app.sql.begin(async (tx) => {
    await tx`select from users where id = ${declined.userId} for no key update`;
    const erasing = eraseDeclined(later);
    await waitingForLocks(test, 1);
    await tx`
      insert into memberships (user_id, organisation_id, role, created_at)
      values (${declined.userId}, ${other.organisationId}, 'member', now())`;
    return { erasing };
  });
  expect(await erased.erasing).toBe(0);
  expect(await test.app.db.$count(memberships, eq(memberships.userId, declined.userId))).toBe(2);
  expect(await eraseDeclined(later)).toBe(1);
  expect(await test.app.db.$count(memberships, eq(memberships.userId, declined.userId))).toBe(1);
});

it('declined requests are erased after RETENTION_DAYS, and no account that belongs elsewhere', async () => {
  const elsewhere = await makeOwner(test, { approved: false });
  const other = await makeOwner(test);
  await addMembership(elsewhere, other.organisationId, 'member');
  const declined = await makeOwner(test, { approved: false });
  for (const { email } of [elsewhere, declined]) await declineOwner(test.app, email, 'No.');
  expect(await eraseDeclined(test.app)).toBe(0);

  test.advance(401 * dayMilliseconds);
  expect(await eraseDeclined(test.app)).toBe(2);
  expect(await foundInDatabase(test.app, declined.email)).toEqual([]);
  const left = inArray(organisations.id, [elsewhere.organisationId, declined.organisationId, other.organisationId]);
  expect(await test.app.db.$count(organisations, left)).toBe(1);
  expect(await test.app.db.$count(users, inArray(users.id, [elsewhere.userId, other.userId]))).toBe(2);
});

async function addMembership({ userId }: Owner, organisationId: string, role: 'admin' | 'member'): Promise<void> {
  await test.app.db.insert(memberships).values({ userId, organisationId, role, createdAt: test.app.now() });
}

function auditOf(userId: string) {
  return test.app.db.select().from(auditEvents).where(eq(auditEvents.userId, userId)).orderBy(auditEvents.id);
}
