import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { users } from '../../platform/db/schema/accounts.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import {
  callerFor,
  makeIdentity,
  makeInvitation,
  makeOwner,
  makeSignUp,
  newEmail,
  testClient,
  testPassword,
  tokenIn,
} from '../../testing/factories.ts';
import { readSession, startSession } from '../sessions/session.ts';
import { matchUser } from '../sign-in/match-user.ts';
import { signInWithPassword } from '../sign-in/with-password.ts';
import { signUp, signUpInput } from '../sign-up/sign-up.ts';
import { sendVerification } from './send-verification.ts';
import { type Outcome, verifyEmail } from './verify-email.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

const chosen = 'chosen on the page itself';
const notValid = { cause: { code: 'VALIDATION' } };

function open(token: string, browserToken: string | null = null) {
  return verifyEmail(test.app, { token, browserToken }, testClient);
}

function offersOf(outcome: Outcome) {
  if (!('offers' in outcome)) throw new Error(`A page that is ${outcome.kind} offers nothing.`);
  return outcome.offers;
}

function signIn(email: string, password: string) {
  return signInWithPassword(test.app, { email, password }, testClient);
}

/** Posts the form `/verify?/keep` from a browser. */
function keep(token: string | null, browserToken: string | null) {
  const caller = callerFor(test, null, { session: { browserToken: () => browserToken } });
  return caller.accounts.keepPassword({ token: token ?? '' });
}

function choose(token: string | undefined, password = chosen, org_name?: string) {
  return callerFor(test, null).accounts.setPassword({ token: token ?? '', password, org_name });
}

function match(email: string, identity = makeIdentity({ email })) {
  return test.app.db.transaction((tx) => matchUser(test.app, tx, identity, testClient));
}

/** A sign-in through the identity provider, with its session. */
async function enter(email: string) {
  const identity = makeIdentity({ email });
  const person = await match(email, identity);
  await startSession(test.app, {
    userId: person.user.id,
    organisationId: person.organisationId,
    idpSubject: identity.subject,
    client: testClient,
  });
  return person;
}

async function organisationOf(email: string) {
  const [row] = await test.app.db
    .select({ name: organisations.name, slug: organisations.slug })
    .from(users)
    .innerJoin(memberships, eq(memberships.userId, users.id))
    .innerJoin(organisations, eq(organisations.id, memberships.organisationId))
    .where(eq(users.email, email));
  return row;
}

const wrong = { code: 'UNAUTHENTICATED' };

describe('a sign-up’s link that is opened elsewhere', () => {
  it('makes neither password nor name valid, and offers to choose both', async () => {
    const { email, token } = await makeSignUp(test, { name: 'Typed Ltd' });
    const outcome = await open(token);
    expect(outcome).toMatchObject({ ok: true, kind: 'address-confirmed', awaitingApproval: true, invited: false });
    const { password, keepToken } = offersOf(outcome);
    // Empty: whoever signed up may be a stranger, whose words do not stand on the page.
    expect([password?.organisationName, keepToken]).toEqual(['', null]);
    await expect(signIn(email, testPassword)).rejects.toMatchObject(wrong);
    expect(await organisationOf(email)).toMatchObject({ name: null, slug: expect.stringMatching(/^person-/) });

    await choose(password?.token, chosen, 'Edited Ltd');
    await signIn(email, chosen);
    await expect(signIn(email, testPassword)).rejects.toMatchObject(wrong);
    expect(await organisationOf(email)).toMatchObject({
      name: 'Edited Ltd',
      slug: expect.stringMatching(/^edited-ltd/),
    });
  });

  it('offers the same again with a fresh token, and nothing once a password is set', async () => {
    const { email, token } = await makeSignUp(test);
    const first = offersOf(await open(token));
    const again = await open(token);
    expect(again).toMatchObject({ ok: false, kind: 'confirmed-already' });
    expect(offersOf(again).password?.token).not.toBe(first.password?.token);
    await choose(offersOf(again).password?.token);
    await signIn(email, chosen);
    await expect(choose(first.password?.token, 'a third pass phrase')).rejects.toMatchObject(notValid);
    expect(offersOf(await open(token))).toEqual({ password: null, keepToken: null, approvalToken: null });
  });

  it('lets the browser that signed up keep what it typed, and no other browser', async () => {
    const { email, token, browserToken } = await makeSignUp(test, { name: 'Kept Ltd' });
    const other = await makeSignUp(test);
    await open(token);
    expect(offersOf(await open(token, other.browserToken)).keepToken).toBeNull();
    const { keepToken, password } = offersOf(await open(token, browserToken));
    for (const cookie of [null, other.browserToken]) {
      await expect(keep(keepToken, cookie)).rejects.toMatchObject(notValid);
    }
    // A refused form does not consume the token.
    await keep(keepToken, browserToken);
    await signIn(email, testPassword);
    expect(await organisationOf(email)).toMatchObject({ name: 'Kept Ltd' });
    await expect(choose(password?.token)).rejects.toMatchObject(notValid);
    await expect(keep(keepToken, browserToken)).rejects.toMatchObject(notValid);
  });

  it('lets each browser keep the sign-up of its own link only, where two signed up', async () => {
    const attacker = await makeSignUp(test, { name: 'Squatters' });
    const { email } = attacker;
    const owner = await makeSignUp(test, { email, name: 'Owners Ltd' });
    await expect.poll(() => test.sandbox.mailbox.messages(email).length).toBe(2);
    const [mail] = test.sandbox.mailbox.messages(email);
    const token = /token=([\w-]+)/.exec(mail?.text ?? '')?.[1] ?? '';
    expect(await open(attacker.token)).toMatchObject({ ok: true });

    expect(offersOf(await open(attacker.token, owner.browserToken)).keepToken).toBeNull();
    expect(offersOf(await open(token, attacker.browserToken)).keepToken).toBeNull();
    const { keepToken, password } = offersOf(await open(token, owner.browserToken));
    expect(password?.organisationName).toBe('');
    await expect(keep(keepToken, attacker.browserToken)).rejects.toMatchObject(notValid);
    await keep(keepToken, owner.browserToken);
    expect(await organisationOf(email)).toMatchObject({ name: 'Owners Ltd' });
  });

  it('offers nothing after the link’s lifetime, and its tokens expire after fifteen minutes', async () => {
    const { token, browserToken } = await makeSignUp(test);
    await open(token);
    const { keepToken, password } = offersOf(await open(token, browserToken));
    test.advance(16 * 60_000);
    await expect(keep(keepToken, browserToken)).rejects.toMatchObject(notValid);
    await expect(choose(password?.token)).rejects.toMatchObject(notValid);
    expect(offersOf(await open(token, browserToken)).keepToken).not.toBeNull();
    test.advance(45 * 60_000);
    expect(offersOf(await open(token, browserToken))).toEqual({ password: null, keepToken: null, approvalToken: null });
  });

  it('leaves no password to keep after a sign-in through the identity provider', async () => {
    const { email, token, browserToken } = await makeSignUp(test);
    await open(token);
    const { keepToken } = offersOf(await open(token, browserToken));
    expect(await match(email)).toMatchObject({ accountStatus: 'awaiting_approval' });
    await expect(keep(keepToken, browserToken)).rejects.toMatchObject(notValid);
    expect(offersOf(await open(token, browserToken)).keepToken).toBeNull();
    await expect(signIn(email, testPassword)).rejects.toMatchObject(wrong);
  });

  it('checks the password on the page as at sign-up, and a refusal does not consume the token', async () => {
    const { email, token } = await makeSignUp(test);
    const { password } = offersOf(await open(token));
    for (const each of ['short', email]) {
      const refused = { cause: { code: 'VALIDATION', fields: { password: expect.any(String) } } };
      await expect(choose(password?.token, each)).rejects.toMatchObject(refused);
    }
    await choose(password?.token);
  });
});

describe('concurrent events', () => {
  const rounds = Array.from({ length: 6 }, (_, round) => round);

  it.each(rounds)('a scanner and the user: the password is valid, or the page offers to keep it (%i)', async () => {
    const { email, token, browserToken } = await makeSignUp(test);
    const [, own] = await Promise.all([open(token), open(token, browserToken)]);
    const { keepToken } = offersOf(own);
    if (!own.ok) await keep(keepToken, browserToken);
    await signIn(email, testPassword);
  });

  it.each(rounds)('keeping and choosing, twice each: one of them sets the password (%i)', async () => {
    const { email, token, browserToken } = await makeSignUp(test);
    const pages = [await open(token), await open(token, browserToken), await open(token, browserToken)].map(offersOf);
    const posts = pages.flatMap(({ password, keepToken }, index) => [
      { phrase: `${chosen} ${index}`, post: () => choose(password?.token, `${chosen} ${index}`) },
      ...(keepToken ? [{ phrase: testPassword, post: () => keep(keepToken, browserToken) }] : []),
    ]);
    const ended = await Promise.allSettled(posts.map(({ post }) => post()));
    const won = posts.filter((_, index) => ended[index]?.status === 'fulfilled');
    expect(won).toHaveLength(1);
    await signIn(email, won[0]?.phrase ?? '');
    for (const each of ended) if (each.status === 'rejected') expect(each.reason).toMatchObject(notValid);
  });

  it.each(rounds)(
    'a form and the identity provider: the sign-in succeeds, the form succeeds or is refused as invalid (%i)',
    async (round) => {
      const { email, token, browserToken } = await makeSignUp(test);
      await open(token);
      const { keepToken, password } = offersOf(await open(token, browserToken));
      const post = round % 2 === 0 ? choose(password?.token) : keep(keepToken, browserToken);
      const [posted, person] = await Promise.all([
        post.then(
          () => true,
          (error) => error,
        ),
        enter(email),
      ]);
      expect(person.accountStatus).toBe('awaiting_approval');
      if (posted !== true) {
        expect(posted).toMatchObject(notValid);
        await expect(signIn(email, testPassword)).rejects.toMatchObject(wrong);
      }
    },
  );

  it.each(rounds)('reopening while a password is set leaves no form that could set another (%i)', async () => {
    const { email, token } = await makeSignUp(test);
    const { password } = offersOf(await open(token));
    const [, ...pages] = await Promise.all([choose(password?.token), open(token), open(token), open(token)]);
    for (const page of pages) {
      const later = offersOf(page).password?.token;
      if (later !== undefined) await expect(choose(later, 'a third pass phrase')).rejects.toMatchObject(notValid);
    }
    await signIn(email, chosen);
  });
});

it('ends the sessions of the user when a password is chosen, and starts none', async () => {
  const email = newEmail();
  const { token } = await makeSignUp(test, { email });
  const { password } = offersOf(await open(token));
  const { user, organisationId } = await match(email);
  const session = await startSession(test.app, { userId: user.id, organisationId, client: testClient });
  await choose(password?.token);
  expect(await readSession(test.app, session)).toBeNull();
});

describe('a new sign-up after a mail scanner alone opened the link of the first', () => {
  async function signUpAgain(email: string, org_name = 'Again Ltd', password = 'typed in another browser') {
    const [before] = test.sandbox.mailbox.messages(email);
    const { browserToken } = await signUp(test.app, signUpInput.parse({ email, password, org_name }), testClient);
    return { browserToken, token: tokenIn((await test.sandbox.mailbox.waitFor(email, before)).text), password };
  }

  async function toldOf(email: string) {
    const rows = await test.app.sql`
      select c.type from changes c join memberships m using (organisation_id) join users u on u.id = m.user_id
      where u.email = ${email} order by c.id`;
    return rows.map(({ type }) => type);
  }

  it('is one like the first: what was typed becomes valid where its link is opened, and nothing else does', async () => {
    const { email, token, browserToken } = await makeSignUp(test, { name: 'First Ltd' });
    const { password: form } = offersOf(await open(token));
    const again = await signUpAgain(email);
    expect(await open(again.token, again.browserToken)).toMatchObject({
      ok: true,
      kind: 'address-confirmed',
      offers: { password: null, keepToken: null },
    });
    await signIn(email, again.password);
    expect(await organisationOf(email)).toMatchObject({ name: 'Again Ltd' });
    expect(await toldOf(email)).toEqual(['organisation.created', 'member.joined', 'organisation.renamed']);

    await expect(signIn(email, testPassword)).rejects.toMatchObject(wrong);
    await expect(choose(form?.token)).rejects.toMatchObject(notValid);
    expect(offersOf(await open(token, browserToken))).toEqual({ password: null, keepToken: null, approvalToken: null });
  });

  it('makes nothing valid elsewhere, and offers a password and a name as the first did', async () => {
    const { email, token } = await makeSignUp(test, { name: 'First Ltd' });
    await open(token);
    const again = await signUpAgain(email);
    const outcome = await open(again.token);
    expect(outcome).toMatchObject({ ok: true, kind: 'address-confirmed', offers: { keepToken: null } });
    await expect(signIn(email, again.password)).rejects.toMatchObject(wrong);
    const { keepToken } = offersOf(await open(again.token, again.browserToken));
    await keep(keepToken, again.browserToken);
    await signIn(email, again.password);
    expect(await organisationOf(email)).toMatchObject({ name: 'Again Ltd' });
  });

  it('leaves elsewhere the name that the company gave the organisation', async () => {
    const { email, token } = await makeSignUp(test);
    await open(token);
    await test.app.sql`
      update organisations set name = 'Named By The Company' where id in (
        select organisation_id from memberships join users on users.id = user_id where email = ${email})`;
    await open((await signUpAgain(email)).token);
    expect(await organisationOf(email)).toMatchObject({ name: 'Named By The Company' });
    expect(await toldOf(email)).toEqual(['organisation.created', 'member.joined']);
  });

  it('makes the organisation that a first sign-up by an invitation did not ask for, wherever it is opened', async () => {
    for (const elsewhere of [true, false]) {
      const invitation = await makeInvitation(await makeOwner(test));
      const { email, token } = await makeSignUp(test, { invitation });
      await open(token);
      expect(await organisationOf(email)).toBeUndefined();
      const again = await signUpAgain(email);
      const outcome = await open(again.token, elsewhere ? null : again.browserToken);
      expect(outcome).toMatchObject({ ok: true, awaitingApproval: true, invited: false });
      expect(await organisationOf(email)).toMatchObject({ name: elsewhere ? null : 'Again Ltd' });
      expect(await toldOf(email)).toEqual(['organisation.created', 'member.joined']);
    }
  });

  it('has a link that a resend sends again', async () => {
    const { email, token, browserToken, mail } = await makeSignUp(test);
    await open(token);
    test.advance(61_000);
    await sendVerification(test.app, { email });
    const resent = tokenIn((await test.sandbox.mailbox.waitFor(email, mail)).text);
    expect(await open(resent, browserToken)).toMatchObject({ ok: true, kind: 'address-confirmed' });
    await signIn(email, testPassword);
  });

  it('is none once there is a password, a subject, or a key or an import made the account', async () => {
    const made = await makeSignUp(test);
    await open(made.token);
    await test.app.db.update(users).set({ provisioned: true }).where(eq(users.email, made.email));
    const linked = await makeSignUp(test);
    await open(linked.token);
    await enter(linked.email);
    for (const { email } of [made, linked]) {
      const again = await signUpAgain(email);
      expect(await open(again.token, again.browserToken)).toMatchObject({ kind: 'password-offered' });
      await expect(signIn(email, again.password)).rejects.toMatchObject(wrong);
    }
  });

  it('has no link that still works after a sign-in through the identity provider', async () => {
    const { email, token } = await makeSignUp(test);
    await open(token);
    const again = await signUpAgain(email);
    await enter(email);
    expect(await open(again.token, again.browserToken)).toMatchObject({ ok: false, offers: { keepToken: null } });
    await expect(signIn(email, again.password)).rejects.toMatchObject(wrong);
  });

  it.each([1, 2, 3])('and the one before, opened at once by their browsers, make one password valid (%i)', async () => {
    const { email, token } = await makeSignUp(test);
    await open(token);
    const both = [await signUpAgain(email), await signUpAgain(email, 'Third Ltd', 'typed in a third browser')];
    const outcomes = await Promise.all(both.map((each) => open(each.token, each.browserToken)));
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
    const signedIn = await Promise.allSettled(both.map(({ password }) => signIn(email, password)));
    expect(signedIn.map(({ status }) => status === 'fulfilled')).toEqual(outcomes.map(({ ok }) => ok));
  });
});
