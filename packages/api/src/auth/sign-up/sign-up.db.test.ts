import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signUps, users, verificationLinks } from '../../platform/db/schema/accounts.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { message } from '../../platform/messages.ts';
import { normalisePassword } from '../../platform/security/password-rules.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import {
  callerFor,
  makeOwner,
  makeSignUp,
  newEmail,
  testClient,
  testPassword,
  tokenIn,
} from '../../testing/factories.ts';
import { setPassword } from '../password/set-password.ts';
import { signInWithPassword } from '../sign-in/with-password.ts';
import { noOffers } from '../verification/link.ts';
import { resendVerification } from '../verification/send-verification.ts';
import { type Outcome, verifyEmail } from '../verification/verify-email.ts';
import { signUp, signUpInput } from './sign-up.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

function enter(email: string, password = testPassword, name = 'Company') {
  return signUp(test.app, signUpInput.parse({ email, password, org_name: name }), testClient);
}

function open(token: string, browserToken: string | null = null) {
  return verifyEmail(test.app, { token, browserToken }, testClient);
}

function passwordToken(outcome: Outcome): string {
  return ('offers' in outcome && outcome.offers.password?.token) || '';
}

function signIn(email: string, password = testPassword) {
  return signInWithPassword(test.app, { email, password }, testClient);
}

async function organisationOf(email: string) {
  const [row] = await test.app.db
    .select({
      id: organisations.id,
      name: organisations.name,
      slug: organisations.slug,
      approval: organisations.approval,
    })
    .from(users)
    .innerJoin(memberships, eq(memberships.userId, users.id))
    .innerJoin(organisations, eq(organisations.id, memberships.organisationId))
    .where(eq(users.email, email));
  return row;
}

it('makes an organisation that awaits approval and its unverified owner, and starts no session', async () => {
  const { email } = await enter(` ${newEmail().toUpperCase()} `);

  const [user] = await test.app.db.select().from(users).where(eq(users.email, email));
  expect(user).toMatchObject({ emailVerifiedAt: null, passwordHash: null });
  expect(await organisationOf(email)).toMatchObject({ name: 'Company', approval: 'pending' });
  expect(
    await test.app.db
      .select()
      .from(sessions)
      .where(eq(sessions.userId, user?.id ?? '')),
  ).toEqual([]);
});

it('mails in the language of the browser that signed up, and later of the one that asks again', async () => {
  const { email } = await signUp(
    test.app,
    signUpInput.parse({ email: newEmail(), password: testPassword, org_name: 'Company' }),
    { ...testClient, language: 'de' },
  );
  const first = await test.sandbox.mailbox.waitFor(email);
  expect(first.subject).toMatch(/^Ihr Link für/);

  const linksOfAddress = eq(verificationLinks.email, email);
  await expect // The service stores the time after the mail server has accepted the mail.
    .poll(async () => (await test.app.db.select().from(verificationLinks).where(linksOfAddress))[0]?.sentAt)
    .toBeTruthy();
  await test.app.db
    .update(verificationLinks)
    .set({ sentAt: new Date(0) })
    .where(linksOfAddress);
  await resendVerification(test.app, { email });
  expect((await test.sandbox.mailbox.waitFor(email, first)).subject).toMatch(/^Your link for/);
});

it('mails a link in text and HTML, with its lifetime and what to do if the reader did not ask for it', async () => {
  const { email } = await makeSignUp(test, { name: 'Larch & Sons <b>' });
  const [mail] = test.sandbox.mailbox.messages(email);

  expect(mail?.text).toMatch(/works once, within an hour/);
  expect(mail?.text).toMatch(/Not you\? Ignore this e-mail/);
  expect(mail?.html).toMatch(/Not you\? Ignore this e-mail/);
  expect(JSON.stringify(mail)).not.toContain('Larch');
  expect(mail?.headers['auto-submitted']).toBe('auto-generated');
});

it('opens the e-mail gate by the link, which makes the password valid in the browser that signed up', async () => {
  const { email, token, browserToken } = await makeSignUp(test);
  await expect(signIn(email)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });

  expect(await open(token, browserToken)).toMatchObject({
    ok: true,
    awaitingApproval: true,
    offers: { password: null },
  });
  expect(await signIn(email)).toMatchObject({ organisationId: (await organisationOf(email))?.id });
});

it('lets a link succeed once out of 50 parallel attempts', async () => {
  const { token } = await makeSignUp(test);
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => open(token)));

  expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
  expect(outcomes.filter(({ kind }) => kind === 'confirmed-already')).toHaveLength(49);
});

it('stores only the hashes of tokens', async () => {
  const { token } = await makeSignUp(test);
  const rows = await test.app.db.select().from(verificationLinks);
  expect(JSON.stringify(rows)).not.toContain(token);
});

it('refuses an expired link with a message of its own', async () => {
  const late = await startTestApp();
  const { token } = await makeSignUp(late);
  late.advance(3_601_000);
  const outcome = await verifyEmail(late.app, { token, browserToken: null }, testClient);
  expect(outcome).toMatchObject({ ok: false, text: message('link_expired') });
  await late.close();
});

it.each(['', 'x', 'nul\u0000', '🦩'.repeat(100)])('refuses an unknown token %j as an invalid link', async (token) => {
  expect(await open(token)).toMatchObject({ ok: false, text: message('link_invalid'), kind: 'dead' });
});

it('does not change a verified account when its address signs up again', async () => {
  const { email } = await makeOwner(test);
  const before = await organisationOf(email);

  expect(await enter(email, 'another pass phrase', 'Squatters')).toMatchObject({ email });
  await expect(signIn(email, 'another pass phrase')).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  await signIn(email);
  expect(await organisationOf(email)).toEqual(before);
});

it('makes valid what was typed in the sign-up whose link was opened', async () => {
  const { email, token: squatters, mail: first } = await makeSignUp(test, { name: 'Squatters' });
  const { browserToken } = await enter(email, 'the owner’s own phrase', 'Owners Ltd');
  const mail = await test.sandbox.mailbox.waitFor(email, first);

  await open(tokenIn(mail.text), browserToken);
  await signIn(email, 'the owner’s own phrase');
  await expect(signIn(email, testPassword)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  expect(await organisationOf(email)).toMatchObject({ name: 'Owners Ltd', slug: expect.stringMatching(/^owners-ltd/) });
  expect(await open(squatters)).toMatchObject({ ok: false, kind: 'confirmed-already', offers: noOffers });
});

it('lets a resent link belong to neither of two pending sign-ups, and offers to choose password and name', async () => {
  const { email } = await makeSignUp(test, { name: 'Squatters' });
  const { browserToken } = await enter(email, 'another pass phrase', 'Owners Ltd');
  await expect.poll(() => test.sandbox.mailbox.messages(email).length).toBe(2);
  const [second] = test.sandbox.mailbox.messages(email);
  test.advance(61_000);
  await resendVerification(test.app, { email });
  const mail = await test.sandbox.mailbox.waitFor(email, second);

  const outcome = await open(tokenIn(mail.text), browserToken);
  const password = { token: expect.any(String), organisationName: '' };
  expect(outcome).toMatchObject({ ok: true, offers: { password, keepToken: null } });
  await expect(signIn(email)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  await expect(signIn(email, 'another pass phrase')).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  expect(await organisationOf(email)).toMatchObject({ name: null, slug: expect.stringMatching(/^person-/) });
});

it('lets one of the forms for a first password succeed, whichever page it is on, and ends the others', async () => {
  for (const used of ['first', 'all'] as const) {
    const { email } = await makeSignUp(test);
    await enter(email, 'another pass phrase');
    await expect.poll(() => test.sandbox.mailbox.messages(email).length).toBe(2);
    const [second] = test.sandbox.mailbox.messages(email);
    test.advance(61_000);
    await resendVerification(test.app, { email });
    const token = tokenIn((await test.sandbox.mailbox.waitFor(email, second)).text);
    const outcomes = [await open(token), await open(token), await open(token)];
    const forms = outcomes.map(passwordToken);
    const set = (form: string) =>
      setPassword(test.app, { token: form, password: normalisePassword('the owner’s own phrase') }, testClient);

    if (used === 'first') await set(forms[0] ?? '');
    const ended = await Promise.allSettled(forms.map(set));
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(used === 'first' ? 0 : 1);
    await signIn(email, 'the owner’s own phrase');
  }
});

describe('a second sign-up in one browser', () => {
  /** Signs up from a browser that carries a cookie, and returns the cookie that it gets and the mailed link. */
  async function enterWith(carried: string | null, { email = newEmail(), password = testPassword } = {}) {
    const [before] = test.sandbox.mailbox.messages(email);
    let cookie = '';
    const rememberSignUp = (browserToken: string) => {
      cookie = browserToken;
    };
    const caller = callerFor(test, null, { session: { browserToken: () => carried, rememberSignUp } });
    await caller.accounts.signUp({ email, password, org_name: 'Company' });
    return { email, cookie, token: tokenIn((await test.sandbox.mailbox.waitFor(email, before)).text) };
  }

  it('uses the cookie of the first, so that the browser is recognised by both links', async () => {
    const first = await enterWith(null);
    const second = await enterWith(first.cookie);
    expect(second.cookie).toBe(first.cookie);
    for (const { email, token } of [first, second]) {
      expect(await open(token, second.cookie)).toMatchObject({ ok: true, offers: { password: null } });
      await signIn(email);
    }
  });

  it('also with the address of the first: what was typed for the opened link becomes valid', async () => {
    const first = await enterWith(null);
    const second = await enterWith(first.cookie, { email: first.email, password: 'typed the second time' });
    expect(second.cookie).toBe(first.cookie);
    expect(await open(first.token, second.cookie)).toMatchObject({ ok: true, offers: { password: null } });
    await signIn(first.email);
    await expect(signIn(first.email, 'typed the second time')).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it.each(['', 'x', 'A'.repeat(43), 'é; \u0000', `${'A'.repeat(22)}.1795000000000.${'A'.repeat(43)}`])(
    'gets a cookie of its own where it carries %j, which none set',
    async (foreign) => {
      const { cookie } = await enterWith(foreign);
      expect(cookie).toMatch(/^[\w-]{22}\.\d+\.[\w-]{43}$/);
      expect(cookie).not.toBe(foreign);
    },
  );

  it('gets a cookie of its own once the link of the first is over, whatever became of that one', async () => {
    const first = await enterWith(null);
    await test.app.db.delete(users).where(eq(users.email, first.email));
    expect((await enterWith(first.cookie)).cookie).toBe(first.cookie);
    const { now } = test.app;
    test.app.now = () => new Date(now().getTime() + test.app.config.verificationTtlSeconds * 1000);
    const second = await enterWith(first.cookie).finally(() => {
      test.app.now = now;
    });
    expect(second.cookie).not.toBe(first.cookie);
  });
});

it('makes one account and one organisation out of 50 parallel sign-ups for one address', async () => {
  const email = newEmail();
  await Promise.all(Array.from({ length: 50 }, () => enter(email)));

  const found = await test.app.db.select().from(users).where(eq(users.email, email));
  expect(found).toHaveLength(1);
  const typed = await test.app.db
    .select()
    .from(signUps)
    .where(eq(signUps.userId, found[0]?.id ?? ''));
  expect(typed).toHaveLength(50);
});

it('gives 50 organisations of one name 50 slugs', async () => {
  const addresses = Array.from({ length: 50 }, () => newEmail());
  await Promise.all(addresses.map((email) => enter(email, testPassword, 'Crowded House')));

  const rows = await test.app.db.select().from(organisations).where(eq(organisations.name, 'Crowded House'));
  expect(rows).toHaveLength(50);
  expect(new Set(rows.map(({ slug }) => slug)).size).toBe(50);
  expect(rows.map(({ slug }) => slug)).toContain('crowded-house');
});

it.each([
  [{ password: testPassword }, 'email'],
  [{ email: 'nobody', password: testPassword }, 'email'],
  [{ email: 7, password: testPassword }, 'email'],
  [{ email: 'a@company.example' }, 'password'],
  [{ email: 'a@company.example', password: 8 }, 'password'],
  [{ email: 'a@company.example', password: testPassword, org_name: 'x'.repeat(101) }, 'org_name'],
  [{ email: 'a@company.example', password: testPassword, org_name: 'two\nlines' }, 'org_name'],
  [{ email: 'a@company.example', password: testPassword, org_name: {} }, 'org_name'],
])('refuses %j and names the field', (input, field) => {
  const read = signUpInput.safeParse(input);
  expect(read.error?.issues.map(({ path }) => path[0])).toEqual([field]);
});

it('treats an empty organisation name as missing', () => {
  const typed = { email: 'a@company.example', password: testPassword };
  expect(signUpInput.parse({ ...typed, org_name: '  ' }).org_name).toBeNull();
  expect(signUpInput.parse({ ...typed, org_name: null }).org_name).toBeNull();
  expect(signUpInput.parse(typed).org_name).toBeNull();
});
