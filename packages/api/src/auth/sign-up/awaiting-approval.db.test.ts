import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { declineOwner } from '../../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { addMember, makeIdentity, makeOwner, makeSignUp, newEmail, testClient } from '../../testing/factories.ts';
import { accountByEmail } from '../sessions/account.ts';
import { matchUser } from '../sign-in/match-user.ts';
import { resendVerification } from '../verification/send-verification.ts';
import { type Outcome, verifyEmail } from '../verification/verify-email.ts';
import { approveByDomain } from './awaiting-approval.ts';

describe('an address of an approved domain', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp({ environment: { APPROVED_DOMAINS: 'other.example, Company.example' } });
  });
  afterAll(() => test.close());

  const accountStatus = async (email: string) => (await accountByEmail(test.app.db, email))?.accountStatus;
  const open = (token: string, browserToken: string | null) =>
    verifyEmail(test.app, { token, browserToken }, testClient);
  const approvalOf = (outcome: Outcome) => ('offers' in outcome ? outcome.offers.approvalToken : null);
  const enter = (email: string) =>
    test.app.db.transaction((tx) => matchUser(test.app, tx, makeIdentity({ email }), testClient));

  it('is approved by the link, opened in the browser that signed up', async () => {
    const { email, token, browserToken } = await makeSignUp(test);
    const outcome = await open(token, browserToken);
    expect(outcome).toMatchObject({ ok: true, awaitingApproval: false, offers: { approvalToken: null } });
    expect(await accountStatus(email)).toBe('active');
  });

  it('is approved by the button alone, where the link was opened elsewhere', async () => {
    const { email, token } = await makeSignUp(test);
    const outcome = await open(token, (await makeSignUp(test)).browserToken);
    expect(outcome).toMatchObject({ ok: true, awaitingApproval: true, offers: { approvalToken: expect.any(String) } });
    expect(await accountStatus(email)).toBe('awaiting_approval');

    await approveByDomain(test.app, { token: approvalOf(outcome) ?? '' }, testClient);
    expect(await accountStatus(email)).toBe('active');
    await expect(approveByDomain(test.app, { token: approvalOf(outcome) ?? '' }, testClient)).rejects.toMatchObject({
      code: 'VALIDATION',
    });
  });

  it('keeps the button when a mail scanner fetched the link first, also several times', async () => {
    const { email, token, browserToken } = await makeSignUp(test);
    const scanned = await open(token, null);
    for (let again = 0; again < 3; again++) await open(token, null);
    expect(await accountStatus(email)).toBe('awaiting_approval');

    const outcome = await open(token, browserToken);
    expect(outcome).toMatchObject({ ok: false, kind: 'confirmed-already' });
    await approveByDomain(test.app, { token: approvalOf(outcome) ?? '' }, testClient);
    await expect(approveByDomain(test.app, { token: approvalOf(scanned) ?? '' }, testClient)).rejects.toThrow();
    expect(await accountStatus(email)).toBe('active');
    expect(await open(token, browserToken)).toMatchObject({ ok: false, offers: { approvalToken: null } });
  });

  it('keeps the button of an open page valid when a mail scanner opens the link later', async () => {
    const { email, token } = await makeSignUp(test);
    const outcome = await open(token, null);
    const scanned = await Promise.all(Array.from({ length: 4 }, () => open(token, null)));
    const tokens = [outcome, ...scanned].map((each) => approvalOf(each) ?? '');
    expect(new Set(tokens).size).toBe(5);

    await approveByDomain(test.app, { token: approvalOf(outcome) ?? '' }, testClient);
    expect(await accountStatus(email)).toBe('active');
    for (const each of tokens) {
      await expect(approveByDomain(test.app, { token: each }, testClient)).rejects.toMatchObject({
        code: 'VALIDATION',
      });
    }
  });

  it('has no button on the page of an expired link', async () => {
    const { token } = await makeSignUp(test);
    await open(token, null);
    test.advance(3_601_000);
    expect(await open(token, null)).toMatchObject({
      ok: false,
      kind: 'confirmed-already',
      offers: { approvalToken: null },
    });
  });

  it('is approved by a link sent again, in the browser whose sign-up it carries', async () => {
    const { email, browserToken, mail } = await makeSignUp(test);
    test.advance(61_000);
    await resendVerification(test.app, { email });
    const again = await test.sandbox.mailbox.waitFor(email, mail);
    const token = /token=([\w-]+)/.exec(again.text ?? '')?.[1] ?? '';
    expect(await open(token, browserToken)).toMatchObject({ ok: true, awaitingApproval: false });
  });

  it('is approved through the identity provider: a new account, an unverified one, and one that waits', async () => {
    expect(await enter(newEmail())).toMatchObject({ accountStatus: 'active' });

    const unverified = await makeSignUp(test);
    expect(await enter(unverified.email)).toMatchObject({ accountStatus: 'active' });

    const waiting = await makeSignUp(test);
    await open(waiting.token, null);
    expect(await accountStatus(waiting.email)).toBe('awaiting_approval');
    expect(await enter(waiting.email)).toMatchObject({ accountStatus: 'active' });
    expect(await accountStatus(waiting.email)).toBe('active');
  });

  it('approves no organisation that somebody else owns', async () => {
    const { organisationId } = await makeOwner(test, { approved: false });
    const { email } = await addMember(test, organisationId, 'viewer');
    expect(await enter(email)).toMatchObject({ accountStatus: 'awaiting_approval' });
    expect(await accountStatus(email)).toBe('awaiting_approval');
  });

  it('does not open an account that an operator has declined', async () => {
    const { email, token } = await makeSignUp(test);
    const approvalToken = approvalOf(await open(token, null));
    await declineOwner(test.app, email, 'Not a customer.');
    await expect(approveByDomain(test.app, { token: approvalToken ?? '' }, testClient)).rejects.toMatchObject({
      code: 'VALIDATION',
    });
    expect(await enter(email)).toMatchObject({ accountStatus: 'closed' });
  });
});

it.each(['accounts.google.com', 'https://accounts.google.com'])(
  'is approved through %s only with the hosted domain of the address, whatever its form',
  async (issuer) => {
    const test = await startTestApp({ environment: { APPROVED_DOMAINS: 'company.example, münchen.example' } });
    const enter = async (change: { email?: string; hostedDomain?: string }, at = test) => {
      const identity = makeIdentity({ email: newEmail(), issuer, ...change });
      return (await at.app.db.transaction((tx) => matchUser(at.app, tx, identity, testClient))).accountStatus;
    };
    expect(await enter({})).toBe('awaiting_approval');
    expect(await enter({ hostedDomain: 'other.example' })).toBe('awaiting_approval');
    expect(await enter({ hostedDomain: 'company.example' })).toBe('active');
    const email = 'person@xn--mnchen-3ya.example';
    expect(await enter({ email, hostedDomain: 'xn--mnchen-3ya.example' })).toBe('active');
    await test.close();

    const all = await startTestApp({ environment: { APPROVED_DOMAINS: '*' } });
    expect(await enter({}, all)).toBe('active');
    await all.close();
  },
);

it('an address of any other domain awaits approval, by the link and by the identity provider', async () => {
  const test = await startTestApp({ environment: { APPROVED_DOMAINS: 'other.example' } });
  const { email, token, browserToken } = await makeSignUp(test);
  const outcome = await verifyEmail(test.app, { token, browserToken }, testClient);
  expect(outcome).toMatchObject({ ok: true, awaitingApproval: true, offers: { approvalToken: null } });

  const identity = makeIdentity({ email });
  const person = await test.app.db.transaction((tx) => matchUser(test.app, tx, identity, testClient));
  expect(person.accountStatus).toBe('awaiting_approval');
  // The address that was verified here decides, not the one that the provider has now.
  const moved = { ...identity, email: 'a@other.example' };
  const again = await test.app.db.transaction((tx) => matchUser(test.app, tx, moved, testClient));
  expect([again.user.id, again.accountStatus]).toEqual([person.user.id, 'awaiting_approval']);
  await test.close();
});
