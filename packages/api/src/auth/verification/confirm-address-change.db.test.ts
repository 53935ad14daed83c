import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { users } from '../../platform/db/schema/accounts.ts';
import { message } from '../../platform/messages.ts';
import { suspendUser } from '../../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { callerFor, makeOwner, newEmail, testClient, testPassword, tokenIn } from '../../testing/factories.ts';
import { listSessions, readSession, startSession } from '../sessions/session.ts';
import { noOffers } from './link.ts';
import { type Outcome, verifyEmail } from './verify-email.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

type Owner = Awaited<ReturnType<typeof makeOwner>>;

/** Asks for the change, and returns the token that was mailed to the new address. */
async function mailed(owner: Owner, email = newEmail()) {
  const [before] = test.sandbox.mailbox.messages(email);
  await owner.api.accounts.changeAddress({ email, password: testPassword });
  const mail = await test.sandbox.mailbox.waitFor(email, before);
  return { email, token: tokenIn(mail.text) };
}

/** A GET with the session of a user, or with none. */
function open(token: string, sessionToken: string | null = null) {
  return verifyEmail(test.app, { token, browserToken: null, sessionToken }, testClient);
}

function newSession(owner: Owner) {
  return startSession(test.app, { ...owner, client: testClient });
}

function changeToken(outcome: Outcome): string {
  return 'changeToken' in outcome ? outcome.changeToken : '';
}

function confirm(token: string) {
  return callerFor(test, null).accounts.confirmChange({ token, password: testPassword });
}

const notValid = { cause: { code: 'VALIDATION' } };

async function addressOf({ userId }: Owner) {
  const [user] = await test.app.db.select().from(users).where(eq(users.id, userId));
  return user?.email;
}

it.each(['no session', 'the session of another user'])(
  'changes nothing on a GET with %s, and offers the form',
  async (who) => {
    const owner = await makeOwner(test);
    const other = await newSession(owner);
    const { email, token } = await mailed(owner);
    const scan = () =>
      who === 'no session'
        ? open(token)
        : makeOwner(test)
            .then(newSession)
            .then((id) => open(token, id));
    const first = await scan();
    expect(first).toMatchObject({ ok: true, kind: 'change-offered', email, awaitingApproval: false });
    expect(await addressOf(owner)).toBe(owner.email);
    expect(await readSession(test.app, other)).not.toBeNull();

    // Consumed: even the user's own session changes nothing by the link itself, and the page has a fresh token.
    const again = await open(token, other);
    expect(again).toMatchObject({ ok: false, kind: 'change-offered', email });
    expect(changeToken(again)).not.toBe(changeToken(first));
    expect(await addressOf(owner)).toBe(owner.email);

    await confirm(changeToken(first));
    expect(await addressOf(owner)).toBe(email);
    expect(await listSessions(test.app, owner.userId)).toEqual([]);
    await expect(confirm(changeToken(again))).rejects.toMatchObject(notValid);
    expect(await open(token)).toMatchObject({ ok: false, kind: 'confirmed-already', offers: noOffers });
  },
);

it('accepts the form’s token for fifteen minutes, and the link offers a new one during its own lifetime', async () => {
  const late = await startTestApp();
  const owner = await makeOwner(late);
  const email = newEmail();
  await callerFor(late, owner.principal).accounts.changeAddress({ email, password: testPassword });
  const token = tokenIn((await late.sandbox.mailbox.waitFor(email)).text);
  const scan = () => verifyEmail(late.app, { token, browserToken: null }, testClient);
  const first = changeToken(await scan());
  late.advance(16 * 60_000);
  await expect(
    callerFor(late, null).accounts.confirmChange({ token: first, password: testPassword }),
  ).rejects.toMatchObject(notValid);
  const second = changeToken(await scan());
  late.advance(45 * 60_000);
  expect(await scan()).toMatchObject({ ok: false, kind: 'dead', text: message('link_used') });
  await expect(
    callerFor(late, null).accounts.confirmChange({ token: second, password: testPassword }),
  ).rejects.toMatchObject(notValid);
  await late.close();
});

it('accepts a form’s token in no other form, and not after a newer change has ended its link', async () => {
  const owner = await makeOwner(test);
  const { token } = await mailed(owner);
  const { email, token: newer } = await mailed(owner);
  const form = changeToken(await open(token));
  const { accounts } = callerFor(test, null);
  await expect(accounts.setPassword({ token: form, password: 'another long pass phrase' })).rejects.toMatchObject(
    notValid,
  );
  await expect(accounts.approveByDomain({ token: form })).rejects.toMatchObject(notValid);
  await open(newer, await newSession(owner));
  await expect(confirm(form)).rejects.toMatchObject(notValid);
  expect(await addressOf(owner)).toBe(email);
});

it('refuses the form where the address was taken meanwhile, the password changed, or the account closed', async () => {
  const { accounts } = callerFor(test, null);
  const [taken, changed, closed] = [await makeOwner(test), await makeOwner(test), await makeOwner(test)];
  const address = await mailed(taken);
  const forms = [changeToken(await open(address.token))];
  for (const owner of [changed, closed]) forms.push(changeToken(await open((await mailed(owner)).token)));
  const now = test.app.now();
  await test.app.db
    .insert(users)
    .values({ id: crypto.randomUUID(), email: address.email, emailVerifiedAt: now, createdAt: now });
  await changed.api.accounts.changePassword({ current_password: testPassword, password: 'another long pass phrase' });
  await suspendUser(test.app, closed.email);

  for (const token of forms)
    await expect(accounts.confirmChange({ token, password: testPassword })).rejects.toMatchObject(notValid);
  expect(await open(address.token)).toMatchObject({ ok: false, kind: 'dead' });
  for (const owner of [taken, changed, closed]) expect(await addressOf(owner)).toBe(owner.email);
});
