import { eq, sql } from 'drizzle-orm';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { newPasswordLinkToken } from '../../auth/password/one-time-token.ts';
import { signUp, signUpInput } from '../../auth/sign-up/sign-up.ts';
import { sendVerification } from '../../auth/verification/send-verification.ts';
import { verifyEmail } from '../../auth/verification/verify-email.ts';
import { jobKinds } from '../../job-kinds.ts';
import { addMember as addProvisionedMember } from '../../organisations/organisation.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { paymentCustomers, planOverrides } from '../../platform/db/schema/billing.ts';
import { changes } from '../../platform/db/schema/changes.ts';
import { passkeys } from '../../platform/db/schema/factors.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { approveOwner } from '../../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import {
  addMember,
  callerFor,
  linkSubject,
  makeInvitation,
  makeOwner,
  newEmail,
  testClient,
  testPassword,
  tokenIn,
} from '../../testing/factories.ts';
import { makeKey } from '../../testing/keys.ts';
import { unclaimedAfter } from './erase-unclaimed.ts';

let test: TestApp;
beforeEach(async () => {
  test = await startTestApp({ work: false });
});
afterEach(() => test.close());

/** Signs up, and lets a mail scanner open the link. */
async function makeScanned({ name = 'Scanned', invitation }: { name?: string; invitation?: string } = {}) {
  const typed = signUpInput.parse({ email: newEmail(), password: testPassword, org_name: name, invitation });
  const { email } = await signUp(test.app, typed, testClient);
  const outcome = await openNewLink(email);
  const [user] = await test.app.db.select().from(users).where(eq(users.email, email));
  return { email, id: user?.id ?? '', outcome };
}

async function openNewLink(email: string) {
  await sendVerification(test.app, { email });
  const token = tokenIn(test.sandbox.mailbox.messages(email)[0]?.text);
  return verifyEmail(test.app, { token, browserToken: null }, testClient);
}

function sweep() {
  return jobKinds({ app: test.app, scheduled: test.app }).sweep.handler({}, 'id');
}

async function isThere(email: string) {
  return (await test.app.db.$count(users, eq(users.email, email))) === 1;
}

function organisationOf(userId: string) {
  return test.app.sql<{ id: string }[]>`select organisation_id as id from memberships where user_id = ${userId}`;
}

it('an account that only a mail scanner verified goes after seven days with its organisation, and the feed tells it', async () => {
  const { email, id } = await makeScanned();
  const [organisation] = await organisationOf(id);
  await approveOwner(test.app, email);
  test.advance(6 * dayMilliseconds);
  await sweep();
  expect(await isThere(email)).toBe(true);

  test.advance(dayMilliseconds + 1000);
  await sweep();
  expect(await isThere(email)).toBe(false);
  expect(await test.app.db.$count(organisations)).toBe(0);
  const told = await test.app.db.select().from(changes).orderBy(changes.id);
  expect(told.filter(({ organisationId }) => organisationId === organisation?.id).map(({ type }) => type)).toEqual([
    'organisation.created',
    'member.joined',
    'organisation.approved',
    'user.deleted',
    'member.left',
    'organisation.deleted',
  ]);
});

it('so does one that signed up by an invitation, which has no organisation', async () => {
  const owner = await makeOwner(test);
  const { email } = await makeScanned({ invitation: await makeInvitation(owner) });
  test.advance(7 * dayMilliseconds + 1000);
  await sweep();
  expect(await isThere(email)).toBe(false);
  expect(await isThere(owner.email)).toBe(true);
});

it('an account with a password, a subject or a passkey stays, and one that a key or an import made', async () => {
  const [chosen, linked, unlinked, keyed, made] = [
    await makeScanned(),
    await makeScanned(),
    await makeScanned(),
    await makeScanned(),
    await makeScanned(),
  ];
  const token = ('offers' in chosen.outcome && chosen.outcome.offers.password?.token) || '';
  await callerFor(test, null).accounts.setPassword({ token, password: testPassword });
  await linkSubject(test, linked.id, 'linked');
  await linkSubject(test, unlinked.id, 'unlinked');
  await test.app.sql`update identities set unlinked_at = now() where user_id = ${unlinked.id}`;
  const key = { id: crypto.randomUUID(), userId: keyed.id, credentialId: 'key', publicKey: '', counter: 0 };
  await test.app.db.insert(passkeys).values({ ...key, transports: [], name: 'Key', createdAt: test.app.now() });
  await test.app.db.update(users).set({ provisioned: true }).where(eq(users.id, made.id));

  test.advance(8 * dayMilliseconds);
  await sweep();
  for (const { email } of [chosen, linked, unlinked, keyed, made]) expect(await isThere(email)).toBe(true);
});

it('an account stays that others count on: a member’s, an operator’s, a closed one, one whose organisation has members, a key, an agreed plan or a customer', async () => {
  const owner = await makeOwner(test);
  const [operator, member, host, customer, declined, suspended, keyed, agreed] = [
    await makeScanned(),
    await makeScanned(),
    await makeScanned(),
    await makeScanned(),
    await makeScanned(),
    await makeScanned(),
    await makeScanned(),
    await makeScanned(),
  ];
  const now = test.app.now();
  await test.app.db.update(users).set({ operator: true }).where(eq(users.id, operator.id));
  await test.app.db.update(users).set({ suspendedAt: now }).where(eq(users.id, suspended.id));
  await test.app.db.transaction((tx) =>
    addProvisionedMember(tx, now, { organisationId: owner.organisationId, userId: member.id, role: 'member' }),
  );
  await addMember(test, (await organisationOf(host.id))[0]?.id ?? '', 'viewer');
  const customerOf = (await organisationOf(customer.id))[0]?.id ?? '';
  await test.app.db.insert(paymentCustomers).values({ organisationId: customerOf, createdAt: now });
  await test.app.sql`
    update organisations set approval = 'declined', declined_at = now()
    where id = ${(await organisationOf(declined.id))[0]?.id ?? ''}`;

  await makeKey(test, { organisationId: (await organisationOf(keyed.id))[0]?.id ?? '' });
  await test.app.db.insert(planOverrides).values({
    organisationId: (await organisationOf(agreed.id))[0]?.id ?? '',
    tier: 'gold',
    agreed: {} as never,
    reason: 'Agreed.',
    setAt: now,
  });

  test.advance(8 * dayMilliseconds);
  await sweep();
  for (const { email } of [operator, member, host, customer, declined, suspended, keyed, agreed])
    expect(await isThere(email)).toBe(true);
});

it('an account stays while a link or a sign-up of it can still be followed up', async () => {
  const [linked, resent, again, idle] = [
    await makeScanned(),
    await makeScanned(),
    await makeScanned(),
    await makeScanned(),
  ];
  test.advance(7 * dayMilliseconds + 1000);
  await test.app.db.transaction((tx) => newPasswordLinkToken(test.app, tx, linked.id));
  await openNewLink(resent.email);
  await signUp(test.app, signUpInput.parse({ email: again.email, password: testPassword }), testClient);
  await sweep();
  for (const { email } of [linked, resent, again]) expect(await isThere(email)).toBe(true);
  expect(await isThere(idle.email)).toBe(false);

  test.advance(dayMilliseconds + 1000);
  await sweep();
  for (const { email } of [linked, resent, again]) expect(await isThere(email)).toBe(false);
});

it('finds them without reading the accounts that people use', async () => {
  await test.app.sql`
    insert into users (id, email, email_verified_at, password_hash, created_at)
    select gen_random_uuid(), 'person-' || n || '@many.example', now(), 'hash', now() from generate_series(1, 3000) as n`;
  await makeScanned();
  await test.app.sql`analyze users`;
  const plan = await test.app.db.execute(sql`explain ${unclaimedAfter(test.app, null)}`);
  expect(JSON.stringify(plan)).toMatch(/using users_unclaimed/i);
});
