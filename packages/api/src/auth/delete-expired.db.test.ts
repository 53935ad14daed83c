import { eq } from 'drizzle-orm';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { jobKinds } from '../job-kinds.ts';
import { signUps, users } from '../platform/db/schema/accounts.ts';
import { paymentCustomers } from '../platform/db/schema/billing.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import { dayMilliseconds } from '../platform/durations.ts';
import { approveOwner } from '../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { waitingForLocks } from '../testing/database/waiting-for-locks.ts';
import { makeOwner, newEmail, testClient, testPassword, tokenIn } from '../testing/factories.ts';
import { makeKey } from '../testing/keys.ts';
import { deleteExpired } from './delete-expired.ts';
import { signUp, signUpInput } from './sign-up/sign-up.ts';
import { sendVerification } from './verification/send-verification.ts';
import { verifyEmail } from './verification/verify-email.ts';

let test: TestApp;
beforeEach(async () => {
  test = await startTestApp({ work: false });
});
afterEach(() => test.close());

function enter(email = newEmail(), name = 'Early Bird') {
  return signUp(test.app, signUpInput.parse({ email, password: testPassword, org_name: name }), testClient);
}

function slugs() {
  return test.app.db.select({ slug: organisations.slug }).from(organisations);
}

it('deletes the organisation of an account that was never verified, even one that was approved early', async () => {
  const { email } = await enter();
  await approveOwner(test.app, email);
  test.advance(8 * dayMilliseconds);
  await deleteExpired(test.app);
  expect(await test.app.db.$count(users)).toBe(0);
  expect(await slugs()).toEqual([]);
});

it('deletes any number of accounts, and leaves a row that another transaction has locked to the next run', async () => {
  await test.app.sql`
    insert into users (id, email, created_at)
    select gen_random_uuid(), 'person-' || n || '@many.example', now() from generate_series(1, 450) as n`;
  await test.app
    .sql`insert into rate_limits (key, points, expire) select 'k' || n, 1, 1 from generate_series(1, 11000) as n`;
  test.advance(8 * dayMilliseconds);
  await test.app.sql.begin(async (tx) => {
    await tx`select from rate_limits where key = 'k7' for update`;
    await deleteExpired(test.app);
  });
  expect(await test.app.db.$count(users)).toBe(0);
  expect(await test.app.sql`select key from rate_limits`).toEqual([{ key: 'k7' }]);
  await deleteExpired(test.app);
  expect(await test.app.sql`select key from rate_limits`).toEqual([]);
});

it('deletes no other organisation, even one without members', async () => {
  await enter(newEmail(), 'Deserted');
  await test.app.db.delete(users);
  await enter(newEmail(), 'Never Proved');
  test.advance(8 * dayMilliseconds);
  await deleteExpired(test.app);
  expect(await slugs()).toEqual([{ slug: 'deserted' }]);
});

it('keeps an organisation with other members, or that the payment provider knows', async () => {
  const [kept, known] = [await enter(newEmail(), 'Kept'), await enter(newEmail(), 'Known')];
  const now = test.app.now();
  const [organisation] = await test.app.db.select().from(organisations).where(eq(organisations.slug, 'kept'));
  const [customer] = await test.app.db.select().from(organisations).where(eq(organisations.slug, 'known'));
  const other = { id: crypto.randomUUID(), email: newEmail(), emailVerifiedAt: now, createdAt: now };
  await test.app.db.insert(users).values(other);
  const organisationId = organisation?.id ?? '';
  await test.app.db.insert(memberships).values({ userId: other.id, organisationId, role: 'viewer', createdAt: now });
  await test.app.db.insert(paymentCustomers).values({ organisationId: customer?.id ?? '', createdAt: now });

  test.advance(8 * dayMilliseconds);
  await deleteExpired(test.app);
  expect((await slugs()).map(({ slug }) => slug).sort()).toEqual(['kept', 'known']);
  for (const { email } of [kept, known]) expect(await test.app.db.$count(users, eq(users.email, email))).toBe(0);
});

it('keeps an account that a key made the owner of an organisation, with that organisation', async () => {
  const { email } = await enter();
  const [user] = await test.app.db.select().from(users).where(eq(users.email, email));
  const customer = await makeOwner(test, { name: 'Customer' });
  await test.app.db.delete(users).where(eq(users.id, customer.userId));
  const { api } = await makeKey(test, { scope: 'MANAGE' });
  const member = { organisation: customer.organisationId, user: user?.id ?? '', role: 'owner' as const };
  await api.management.addMember(member);

  test.advance(8 * dayMilliseconds);
  await deleteExpired(test.app);
  expect(await test.app.db.$count(users, eq(users.email, email))).toBe(1);
  expect(await slugs()).toContainEqual({ slug: 'customer' });
});

it('keeps an account that signs up again on the last day, although the mail server is unavailable', async () => {
  const { email } = await enter();
  test.advance(7 * dayMilliseconds + 1000);
  await enter(email);
  await deleteExpired(test.app);
  expect(await test.app.db.$count(users, eq(users.email, email))).toBe(1);
  expect(await test.app.db.$count(signUps)).toBe(2);

  test.advance(dayMilliseconds + 1000);
  await deleteExpired(test.app);
  expect(await test.app.db.$count(users)).toBe(0);
});

it('keeps an account whose address signs up again concurrently with the deletion', async () => {
  const { email } = await enter();
  test.advance(7 * dayMilliseconds + 1000);
  const [user] = await test.app.db.select().from(users);
  const sweeping = await test.app.db.transaction(async (tx) => {
    await tx.select().from(users).for('key share');
    const done = deleteExpired(test.app);
    await waitingForLocks(test, 1);
    const typed = { id: crypto.randomUUID(), userId: user?.id ?? '', passwordHash: '', browserHash: '' };
    await tx.insert(signUps).values({ ...typed, createdAt: test.app.now() });
    return { done };
  });
  await sweeping.done;
  expect(await test.app.db.$count(users, eq(users.email, email))).toBe(1);
});

it('keeps a sign-up as long as one of its links is valid, and no longer', async () => {
  const { email, browserToken } = await enter();
  const [typed] = await test.app.db.select().from(signUps);
  test.advance(2 * dayMilliseconds);
  await sendVerification(test.app, { email });
  const token = tokenIn((await test.sandbox.mailbox.waitFor(email)).text);
  const scan = () => verifyEmail(test.app, { token, browserToken }, testClient);
  await verifyEmail(test.app, { token, browserToken: null }, testClient);
  await deleteExpired(test.app);
  expect(await scan()).toMatchObject({ ok: false, offers: { keepToken: expect.any(String) } });

  test.advance(2 * 3_600_000);
  await deleteExpired(test.app);
  expect(await test.app.db.$count(signUps, eq(signUps.id, typed?.id ?? ''))).toBe(0);
  expect(await test.app.db.$count(users, eq(users.email, email))).toBe(1);
});

it('one step of the sweep that fails keeps no other from running, and the job fails', async () => {
  const { app } = test;
  await app.sql`insert into rate_limits (key, points, expire) values ('k', 1, 1)`;
  await app.sql`
    insert into api_keys (id, name, hash, hint, scope, created_at, expires_at)
    values (gen_random_uuid(), 'old', 'hash', 'hint', 'READ', now(), now() - interval '90 days')`;
  await app.sql`alter table return_urls rename to moved`;
  const { sweep } = jobKinds({ app, scheduled: app });
  await expect(sweep.handler({}, 'id')).rejects.toThrow(/^These steps failed: expired\.$/);
  expect(await app.sql`select key from rate_limits`).toEqual([]);
  expect(await app.sql`select id from api_keys`).toEqual([]);
  expect(test.logged).toContainEqual(
    expect.objectContaining({ level: 'warn', fields: expect.objectContaining({ step: 'return URLs' }) }),
  );
});
