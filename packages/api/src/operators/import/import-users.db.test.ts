import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../app.ts';
import { deleteExpired } from '../../auth/delete-expired.ts';
import { signInWithPassword } from '../../auth/sign-in/with-password.ts';
import { verifyEmail } from '../../auth/verification/verify-email.ts';
import { requirePayment } from '../../billing/actions/require-payment.ts';
import { eraseUnclaimed } from '../../members/leaving/erase-unclaimed.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { paymentCustomers } from '../../platform/db/schema/billing.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { type BillingTest, startBillingTest } from '../../testing/billing.ts';
import { failingAt } from '../../testing/database/failing-database.ts';
import { makeOwner, makeSignUp, newEmail, testClient, testPassword } from '../../testing/factories.ts';
import { makeKey } from '../../testing/keys.ts';
import { commandLine } from '../actor.ts';
import { suspendUser } from '../users/suspend-user.ts';
import { exportUsers } from './export-users.ts';
import { type Imported, importUsers, type Told } from './import-users.ts';

let test: BillingTest;
beforeAll(async () => {
  test = await startBillingTest();
});
afterAll(() => test.close());
// While one is stored sign-ins take turns, of a second each.
beforeEach(() => test.app.sql`update users set password_hash = null where password_hash like 'imported:%'`);

type Run = Imported & { told: Told[] };

/** Imports objects, one in each line; a text is a line as it is. */
async function run(
  lines: (object | string)[],
  { dryRun = false, app = test.app }: { dryRun?: boolean; app?: App } = {},
): Promise<Run> {
  async function* texts() {
    for (const line of lines) yield typeof line === 'string' ? line : JSON.stringify(line);
  }
  const told: Told[] = [];
  const importing = importUsers(app, texts(), { dryRun, actor: commandLine });
  for (;;) {
    const step = await importing.next();
    if (step.done) return { ...step.value, told };
    told.push(step.value);
  }
}

const hash = '$2b$05$abcdefghijklmnopqrstuuVOFKqCVLDuGlQCeJza3EicKp0N6sqQa';
const typed = 'pass phrase é';
const user = (change: object = {}) => ({ type: 'user', email: newEmail(), verified: true, ...change });
const organisation = (owner: string, change: object = {}) => ({
  type: 'organisation',
  name: `Larch ${owner}`,
  approval: 'approved',
  members: [{ email: owner, role: 'owner' }],
  ...change,
});

async function rowOf(email: string) {
  const [row] = await test.app.db.select().from(users).where(eq(users.email, email));
  return row;
}

const issuer = () => test.app.config.idp?.issuers[0] ?? '';
const signIn = (email: string, password: string) => signInWithPassword(test.app, { email, password }, testClient);

async function exported(): Promise<Record<string, unknown>[]> {
  let text = '';
  for await (const part of exportUsers(test.app, commandLine)) text += part;
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('an import of users', () => {
  it('stores them with their hash, name, age and identity, and signs them in', async () => {
    const [one, other] = [
      user({ name: ' Ada\u202eLovelace ', created_at: '2020-01-31T12:00:00Z', password: { hash } }),
      user({ suspended: true, identity: { issuer: issuer(), subject: `s-${newEmail()}` } }),
    ];
    expect(await run([one, other])).toEqual({ users: 2, organisations: 0, here: 0, failed: 0, leftOut: 0, told: [] });
    expect(await rowOf(one.email)).toMatchObject({ name: 'AdaLovelace', createdAt: new Date('2020-01-31T12:00:00Z') });
    expect(await signIn(one.email, typed)).toMatchObject({ userId: (await rowOf(one.email))?.id });
    expect((await rowOf(other.email))?.suspendedAt).not.toBeNull();
    const line = (await exported()).find(({ email }) => email === other.email);
    expect(line).toMatchObject({ suspended: true, identity: { issuer: issuer() } });
  });

  it('tells each fault with its number, counting empty lines, and stores the others', async () => {
    const [good, last, linked] = [user(), user(), user()];
    const identity = { issuer: issuer(), subject: newEmail() };
    const told = await run([
      good,
      '',
      '{"type": "user"',
      '[]',
      user({ email: 'nobody' }),
      user({ verifed: true }),
      user({ password: { hash, algorithm: 'bcrypt' } }),
      user({ password: { hash: '5f4dcc3b5aa765d61d8327deb882cf99' } }),
      user({ identity: { issuer: 'https://other.example', subject: 'x' } }),
      user({ created_at: '2999-01-01T00:00:00Z' }),
      { ...linked, identity },
      user({ identity }),
      organisation(newEmail()),
      organisation(good.email, { members: [] }),
      good,
      last,
    ]);
    expect(told).toMatchObject({ users: 3, organisations: 0, here: 1, failed: 11 });
    expect(told.told.map(({ line }) => line).sort((a, b) => a - b)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15]);
    const saying = (number: number) => told.told.find(({ line }) => line === number)?.sentence;
    expect(saying(6)).toBe('There is no such member: verifed.');
    expect(saying(9)).toBe('IDP_ISSUERS lacks the issuer https://other.example.');
    expect(saying(15)).toBe(`${good.email} is here already.`);
    for (const { sentence } of told.told) expect(sentence).toMatch(/\.$/);
    expect(await rowOf(last.email)).toBeDefined();
  });

  it.each([
    ['null', 'A line is an object with type: user or organisation.'],
    ['[]', 'A line is an object with type: user or organisation.'],
    ['5', 'A line is an object with type: user or organisation.'],
    ['{}', 'type: must be user or organisation.'],
    ['{"type":"person"}', 'type: must be user or organisation.'],
  ])('says of the line %s what its type may be', async (line, sentence) => {
    expect((await run([line])).told).toEqual([{ line: 1, sentence }]);
  });

  it('reads a file that begins with a byte order mark', async () => {
    expect(await run([`\ufeff${JSON.stringify(user())}`])).toMatchObject({ users: 1, failed: 0, told: [] });
  });

  it('changes nothing by a second run, nor by a dry run, which tells the same', async () => {
    const [owner, member] = [user({ password: { hash } }), user()];
    const lines = [
      owner,
      member,
      organisation(owner.email, { slug: 'a', members: [] }),
      organisation(owner.email, {
        members: [
          { email: owner.email, role: 'owner' },
          { email: member.email, role: 'viewer' },
        ],
      }),
    ];
    const dry = await run(lines, { dryRun: true });
    expect(dry).toMatchObject({ users: 2, organisations: 1, here: 0, failed: 1 });
    expect(await rowOf(owner.email)).toBeUndefined();
    expect(await run(lines)).toEqual(dry);
    const before = await exported();
    const again = await run(lines);
    expect(again).toMatchObject({ users: 0, organisations: 0, here: 3, failed: 1 });
    expect(await run(lines, { dryRun: true })).toEqual(again);
    expect(await exported()).toEqual(before);
  });

  it('takes over an unverified account by a verified line, with nothing of what a stranger typed', async () => {
    const { email, token, browserToken } = await makeSignUp(test, { name: 'Stranger Ltd' });
    const before = await rowOf(email);
    expect(await run([user({ email, verified: false })])).toMatchObject({ users: 0, here: 1 });
    expect(await run([user({ email, name: 'Owner', password: { hash } })])).toMatchObject({ users: 1, here: 0 });
    expect(await rowOf(email)).toMatchObject({ id: before?.id, name: 'Owner', provisioned: true });
    expect(await verifyEmail(test.app, { token, browserToken }, testClient)).toMatchObject({ ok: false, kind: 'dead' });
    await expect(signIn(email, testPassword)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(await signIn(email, typed)).toMatchObject({ organisationId: null });
    expect((await exported()).filter(({ name }) => name === 'Stranger Ltd')).toEqual([]);
  });

  it('takes over an unverified account without ending its suspension or a membership that a key gave', async () => {
    const customer = await makeOwner(test);
    const { email } = await makeSignUp(test, { name: 'Stranger Ltd' });
    const userId = (await rowOf(email))?.id ?? '';
    const manage = (await makeKey(test, { scope: 'MANAGE' })).api.management;
    await manage.addMember({ organisation: customer.organisationId, user: userId, role: 'member' });
    await suspendUser(test.app, { userId }, commandLine);
    const { suspendedAt } = (await rowOf(email)) ?? {};

    expect(await run([user({ email })])).toMatchObject({ users: 1, here: 0 });
    expect((await rowOf(email))?.suspendedAt).toEqual(suspendedAt);
    const { organisations } = await manage.user({ user_id: userId });
    expect(organisations).toMatchObject([{ id: customer.organisationId, role: 'member' }]);
  });

  it('never touches a verified account', async () => {
    const { email } = await makeOwner(test);
    expect(await run([user({ email, password: { hash }, suspended: true })])).toMatchObject({ here: 1, users: 0 });
    expect(await signIn(email, testPassword)).toBeTruthy();
  });

  it.each([true, false])(
    'keeps the account of an address that only a mail scanner confirmed, or nobody (verified: %s)',
    async (verified) => {
      const { email, token } = await makeSignUp(test);
      if (verified) await verifyEmail(test.app, { token, browserToken: null }, testClient);
      expect(await run([user({ email, verified })], { dryRun: true })).toMatchObject({ here: 1 });
      expect(await rowOf(email)).toMatchObject({ provisioned: false });

      expect(await run([user({ email, verified })])).toMatchObject({ users: 0, here: 1 });
      const app = { ...test.app, now: () => new Date(Date.now() + 9 * dayMilliseconds) };
      await deleteExpired(app);
      await eraseUnclaimed(app);
      expect(await rowOf(email)).toBeDefined();
    },
  );

  it('keeps the gate of an unverified address shut, and leaves its password out', async () => {
    const line = user({ verified: false, password: { hash } });
    expect(await run([line])).toMatchObject({ users: 1, leftOut: 1 });
    expect(await rowOf(line.email)).toMatchObject({ emailVerifiedAt: null, passwordHash: null });
    await expect(signIn(line.email, typed)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    await deleteExpired({ ...test.app, now: () => new Date(Date.now() + 8 * dayMilliseconds) });
    expect(await rowOf(line.email)).toBeDefined();
  });
});

describe('an import of organisations', () => {
  it('stores members beyond the plan’s limit, and tells the feed as if they had joined', async () => {
    const people = Array.from({ length: 5 }, () => user());
    const [owner, ...others] = people.map(({ email }) => email);
    const { api } = await makeKey(test);
    const { next: after } = await api.changes.since({});
    const slug = `larch-${Date.now()}`;
    const line = organisation(owner ?? '', {
      slug,
      members: [...others.map((email) => ({ email, role: 'member' })), { email: owner, role: 'owner' }],
    });
    expect(await run([...people, line])).toMatchObject({ users: 5, organisations: 1, failed: 0 });
    const stored = (await exported()).find((each) => each.slug === slug);
    expect(stored?.members).toHaveLength(5);
    const { changes } = await api.changes.since({ after });
    expect(changes.map(({ type }) => type)).toEqual([
      'organisation.created',
      'member.joined',
      'organisation.approved',
      ...others.map(() => 'member.joined'),
    ]);
  });

  it('keeps the account of an owner who signed up and never verified, as the organisation would go with it', async () => {
    const { email } = await makeSignUp(test, { name: 'Their own' });
    await run([organisation(email)]);
    expect(await rowOf(email)).toMatchObject({ provisioned: true, invitedOnly: false, emailVerifiedAt: null });
  });

  it('tells the feed of members who are suspended, each after the user joined', async () => {
    const [owner, member] = [user({ suspended: true }), user({ suspended: true })];
    const { api } = await makeKey(test);
    const { next: after } = await api.changes.since({});
    const members = [
      { email: owner.email, role: 'owner' },
      { email: member.email, role: 'member' },
    ];
    await run([owner, member, organisation(owner.email, { members })]);
    const ids = [(await rowOf(owner.email))?.id, (await rowOf(member.email))?.id];
    const { changes } = await api.changes.since({ after });
    expect(changes.map(({ type, user }) => [type, user])).toEqual([
      ['organisation.created', null],
      ['member.joined', ids[0]],
      ['user.suspended', ids[0]],
      ['organisation.approved', null],
      ['member.joined', ids[1]],
      ['user.suspended', ids[1]],
    ]);
  });

  it('tells lines of one organisation from lines of two, and makes the slugs that are missing', async () => {
    const [owner, other] = [user(), user()];
    const name = `Elm ${owner.email}`;
    const lines = [
      organisation(owner.email, { slug: 'elm-one' }),
      organisation(owner.email, { slug: 'elm-two' }),
      organisation(other.email, { slug: 'elm-one' }),
      organisation(owner.email, { name }),
      organisation(other.email, { name }),
      organisation(owner.email, { name }),
      organisation(owner.email, { name: name.toUpperCase() }),
    ];
    const told = await run([owner, other, ...lines]);
    expect(told).toMatchObject({ organisations: 5, here: 2, told: [{ line: 5 }, { line: 8 }] });
    const slugs = (await exported())
      .filter((line) => String(line.name).toLowerCase() === name.toLowerCase())
      .map(({ slug }) => slug);
    expect(new Set(slugs).size).toBe(3);
    expect(await run(lines)).toMatchObject({ organisations: 0, here: 7 });
  });

  it.each([1, 4, 8])(
    'stores one by one what cannot be stored together, and tells nothing twice (step %i)',
    async (step) => {
      const [owner, member] = [user(), user({ verified: false })];
      await run([owner, member]);
      const { api } = await makeKey(test);
      const { next: after } = await api.changes.since({});
      const members = [
        { email: member.email, role: 'owner' },
        { email: owner.email, role: 'admin' },
      ];
      const lines = [
        organisation(owner.email, { approval: 'suspended' }),
        organisation('nobody@larch.example', { name: `Nobody’s ${owner.email}` }),
        organisation(owner.email, { name: `Fir ${owner.email}`, members, approval: 'pending' }),
      ];
      const app = failingAt(test.app, step);
      expect(await run(lines, { app })).toMatchObject({ organisations: 2, failed: 1, told: [{ line: 2 }] });
      const { changes } = await api.changes.since({ after });
      expect(changes.map(({ type, data }) => [type, ...Object.values(data).slice(0, 1)])).toEqual([
        ['organisation.created', expect.any(String)],
        ['member.joined', 'owner'],
        ['organisation.approved'],
        ['organisation.suspended'],
        ['organisation.created', expect.any(String)],
        ['member.joined', 'admin'],
      ]);
      expect(await run(lines)).toMatchObject({ organisations: 0, here: 2, failed: 1 });
    },
  );

  it.each(['pending', 'approved', 'declined', 'suspended'] as const)('keeps the approval %s', async (approval) => {
    const owner = user();
    const slug = `o-${approval}`;
    await run([owner, organisation(owner.email, { slug, approval, created_at: '2021-05-01T00:00:00Z' })]);
    const stored = (await exported()).find((line) => line.slug === slug);
    expect(stored).toMatchObject({ approval, created_at: '2021-05-01T00:00:00.000Z' });
  });

  it('links a customer, and tells one that cannot be linked; a second run links what was missing', async () => {
    const { id } = await requirePayment(test.app).ask((provider) => provider.customers.create({ name: 'Earlier' }));
    const [one, other] = [user(), user()];
    const lines = [
      one,
      other,
      organisation(one.email, { slug: 'with-customer', customer: id }),
      organisation(other.email, { slug: 'with-unknown', customer: 'cus_unknown' }),
    ];
    expect(await run(lines)).toMatchObject({ organisations: 1, failed: 1, told: [{ line: 4 }] });
    expect((await exported()).find(({ slug }) => slug === 'with-customer')).toMatchObject({ customer: id });
    lines[3] = organisation(other.email, { slug: 'with-unknown' });
    expect(await run(lines)).toMatchObject({ organisations: 0, here: 4, failed: 0 });
    const { id: late } = await requirePayment(test.app).ask((provider) => provider.customers.create({ name: 'Late' }));
    lines[3] = organisation(other.email, { slug: 'with-unknown', customer: late });
    expect(await run(lines)).toMatchObject({ organisations: 1, here: 3, failed: 0 });
    lines[3] = organisation(other.email, { slug: 'with-unknown', customer: id });
    expect(await run(lines)).toMatchObject({ organisations: 0, here: 4, failed: 0 });
  });

  it('gives no customer to an organisation that somebody signed up with the slug', async () => {
    const { id } = await requirePayment(test.app).ask((provider) => provider.customers.create({ name: 'Earlier' }));
    const { principal, organisationId } = await makeOwner(test);
    const slug = principal.organisation?.slug ?? '';
    const owner = user();
    expect(await run([owner, organisation(owner.email, { slug, customer: id })])).toMatchObject({ here: 1, failed: 0 });
    expect(await test.app.db.$count(paymentCustomers, eq(paymentCustomers.organisationId, organisationId))).toBe(0);
  });
});

it('what is exported is imported to the same', async () => {
  const salt = '00112233445566778899aabbccddeeff';
  const password = { hash: `${salt}:${'ab'.repeat(64)}`, format: 'better-auth' };
  const owner = user({ name: 'Round Trip', password });
  await run([owner, organisation(owner.email, { slug: 'round-trip' })]);
  const before = (await exported()).filter((line) => line.email === owner.email || line.slug === 'round-trip');
  expect(before).toHaveLength(2);
  await test.app.sql`delete from organisations where slug = 'round-trip'`;
  await test.app.sql`delete from users where email = ${owner.email}`;
  expect(await run(before)).toMatchObject({ users: 1, organisations: 1, failed: 0 });
  const after = (await exported()).filter((line) => line.email === owner.email || line.slug === 'round-trip');
  expect(after).toEqual(before);
  expect(after[0]).toMatchObject({ password });
});
