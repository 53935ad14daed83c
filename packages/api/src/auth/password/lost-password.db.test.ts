import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { users } from '../../platform/db/schema/accounts.ts';
import { message } from '../../platform/messages.ts';
import { createPasswordLink, suspendUser } from '../../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { callerFor, makeOwner, newEmail, testClient, testPassword, tokenIn } from '../../testing/factories.ts';
import { readSession, startSession } from '../sessions/session.ts';
import { signInWithPassword } from '../sign-in/with-password.ts';
import { noOffers } from '../verification/link.ts';
import { type Outcome, verifyEmail } from '../verification/verify-email.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

type Owner = Awaited<ReturnType<typeof makeOwner>>;

const chosen = 'a newly chosen phrase';
const notValid = { cause: { code: 'VALIDATION' } };

/** Asks for a link, and returns the token that was mailed. */
async function ask({ email }: Pick<Owner, 'email'>): Promise<string> {
  const [before] = test.sandbox.mailbox.messages(email);
  test.advance(61_000);
  await callerFor(test, null).accounts.resend({ email });
  return tokenIn((await test.sandbox.mailbox.waitFor(email, before)).text);
}

function open(token: string) {
  return verifyEmail(test.app, { token, browserToken: null }, testClient);
}

function formToken(outcome: Outcome): string {
  return ('offers' in outcome && outcome.offers.password?.token) || '';
}

function choose(token: string, password = chosen) {
  return callerFor(test, null).accounts.setPassword({ token, password, org_name: 'Renamed Ltd' });
}

function signIn(email: string, password: string) {
  return signInWithPassword(test.app, { email, password }, testClient);
}

async function rowOf({ userId }: Owner) {
  const [user] = await test.app.db.select().from(users).where(eq(users.id, userId));
  return user;
}

it('consumes the link and changes nothing else, and offers a new password', async () => {
  const owner = await makeOwner(test);
  const session = await startSession(test.app, { ...owner, client: testClient });
  const token = await ask(owner);
  const before = await rowOf(owner);
  const outcome = await open(token);
  const password = { token: expect.any(String), organisationName: null };
  expect(outcome).toMatchObject({ ok: true, kind: 'password-offered', awaitingApproval: false, email: owner.email });
  expect(outcome).toMatchObject({ offers: { password, keepToken: null, approvalToken: null } });
  expect(await rowOf(owner)).toEqual(before);
  await signIn(owner.email, testPassword);
  expect(await readSession(test.app, session)).not.toBeNull();

  await choose(formToken(outcome));
  await signIn(owner.email, chosen);
  await expect(signIn(owner.email, testPassword)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  expect(await readSession(test.app, session)).toBeNull();
  const again = await signIn(owner.email, chosen);
  const principal = await readSession(test.app, await startSession(test.app, { ...again, client: testClient }));
  expect(principal?.organisation?.name).toBe('Company');
});

it('offers the form again after a mail scanner opened the link, until a password is set', async () => {
  const owner = await makeOwner(test);
  const token = await ask(owner);
  const scanned = formToken(await open(token));
  const again = await open(token);
  expect(again).toMatchObject({ ok: false, kind: 'confirmed-already' });
  await choose(formToken(again));
  await expect(choose(scanned, 'a third pass phrase')).rejects.toMatchObject(notValid);
  expect(await open(token)).toMatchObject({ ok: false, kind: 'confirmed-already', offers: noOffers });
});

it.each(['the form', 'the account page', 'an operator’s link'])(
  'a password that is set by %s ends every other link and form',
  async (way) => {
    const owner = await makeOwner(test);
    const wanted = newEmail();
    await owner.api.accounts.changeAddress({ email: wanted, password: testPassword });
    const change = await open(tokenIn((await test.sandbox.mailbox.waitFor(wanted)).text));
    const [first, second] = [await ask(owner), await ask(owner)];
    const link = new URL(await createPasswordLink(test.app, owner.email)).searchParams.get('token') ?? '';
    const form = formToken(await open(first));
    if (way === 'the form') await choose(form);
    else if (way === 'an operator’s link') await choose(link);
    else await owner.api.accounts.changePassword({ current_password: testPassword, password: chosen });

    for (const token of [form, link])
      await expect(choose(token, 'a third pass phrase')).rejects.toMatchObject(notValid);
    for (const token of [first, second]) {
      expect(await open(token)).toMatchObject({ ok: false, kind: 'confirmed-already', offers: noOffers });
    }
    const changeToken = 'changeToken' in change ? change.changeToken : '';
    await expect(
      callerFor(test, null).accounts.confirmChange({ token: changeToken, password: testPassword }),
    ).rejects.toMatchObject(notValid);
    await signIn(owner.email, chosen);
  },
);

it('a change of address ends the links and forms that were mailed to the old address', async () => {
  const owner = await makeOwner(test);
  const opened = await ask(owner);
  const form = formToken(await open(opened));
  const unopened = await ask(owner);
  const email = newEmail();
  await owner.api.accounts.changeAddress({ email, password: testPassword });
  const change = await open(tokenIn((await test.sandbox.mailbox.waitFor(email)).text));
  await callerFor(test, null).accounts.confirmChange({
    token: 'changeToken' in change ? change.changeToken : '',
    password: testPassword,
  });

  await expect(choose(form)).rejects.toMatchObject(notValid);
  for (const token of [opened, unopened]) expect(await open(token)).toMatchObject({ ok: false, kind: 'dead' });
  await signIn(email, testPassword);
});

it('a lost-password link expires, and offers a closed account nothing', async () => {
  const owner = await makeOwner(test);
  const token = await ask(owner);
  test.advance(61 * 60_000);
  expect(await open(token)).toMatchObject({ ok: false, kind: 'dead', text: message('link_expired') });

  const closed = await makeOwner(test);
  const form = formToken(await open(await ask(closed)));
  const unopened = await ask(closed);
  await suspendUser(test.app, closed.email);
  await expect(choose(form)).rejects.toMatchObject(notValid);
  expect(await open(unopened)).toMatchObject({ ok: false, kind: 'dead' });
});

it('makes nothing valid that another person typed at sign-up with the address of a verified account', async () => {
  const owner = await makeOwner(test);
  const [before] = test.sandbox.mailbox.messages(owner.email);
  const cookies: string[] = [];
  const session = { rememberSignUp: (browserToken: string) => void cookies.push(browserToken) };
  await callerFor(test, null, { session }).accounts.signUp({
    email: owner.email,
    password: 'typed by a stranger',
    org_name: 'Squatters',
  });
  const token = tokenIn((await test.sandbox.mailbox.waitFor(owner.email, before)).text);

  expect(await open(token)).toMatchObject({ kind: 'password-offered', offers: { keepToken: null } });
  const again = await verifyEmail(test.app, { token, browserToken: cookies[0] ?? null }, testClient);
  expect(again).toMatchObject({ kind: 'confirmed-already', offers: { keepToken: null } });
  await signIn(owner.email, testPassword);
});
