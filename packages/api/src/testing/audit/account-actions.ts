import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { expect } from 'vitest';
import { startSession } from '../../auth/sessions/session.ts';
import { matchUser } from '../../auth/sign-in/match-user.ts';
import { verifyEmail } from '../../auth/verification/verify-email.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { passkeys } from '../../platform/db/schema/factors.ts';
import { createPasswordLink, suspendUser } from '../admin-commands.ts';
import { serviceUrl } from '../app.ts';
import { newAuthenticator } from '../authenticator.ts';
import { newBrowser } from '../browser.ts';
import {
  linkSubject,
  makeIdentity,
  makeOwner,
  makeSignUp,
  newEmail,
  signInAs,
  testClient,
  testPassword,
  tokenIn,
} from '../factories.ts';
import { addTotp } from '../factors.ts';
import { type AuditCase, type AuditTest, actsOf, type Owner } from './audit-case.ts';

const otherPassword = 'quite another pass phrase';

/** What users do to their accounts, and how they sign in and out. */
export function accountActions(test: AuditTest): AuditCase[] {
  const { owner, afterwards, anonymous } = actsOf(test);

  function signInAtIdentityProvider(email: string, subject: string = randomUUID()) {
    return test.app.db.transaction((tx) => matchUser(test.app, tx, makeIdentity({ email, subject }), testClient));
  }

  async function removePassword({ userId, email }: Owner) {
    await test.app.db.update(users).set({ passwordHash: null }).where(eq(users.id, userId));
    await linkSubject(test, userId, email);
    return (await signInAs(test, email)).api;
  }

  async function passwordToken({ email }: Owner): Promise<string> {
    return new URL(await createPasswordLink(test.app, email)).searchParams.get('token') ?? '';
  }

  return [
    [
      'a sign-up',
      async (begin) => {
        const email = newEmail();
        await begin();
        await anonymous().accounts.signUp({ email, password: otherPassword });
        return email;
      },
      'signed-up about user, organisation from client',
    ],
    [
      'a sign-up with a known address',
      owner(({ email }) => anonymous().accounts.signUp({ email, password: otherPassword })),
      'signed-up-again about user from client',
    ],
    [
      'a verification link that is opened',
      async (begin) => {
        const { email, token } = await makeSignUp(test);
        await begin();
        await verifyEmail(test.app, { token, browserToken: null }, testClient);
        return email;
      },
      'address-verified about user, organisation from client',
      'tells organisation.created about organisation',
      'tells member.joined about user, organisation',
    ],
    [
      'an unknown verification link',
      owner(() => verifyEmail(test.app, { token: 'unknown', browserToken: null }, testClient)),
    ],
    [
      'a change of address',
      async (begin) => {
        const { api, userId, organisationId } = await makeOwner(test);
        const email = newEmail();
        await api.accounts.changeAddress({ email, password: testPassword });
        const token = tokenIn((await test.sandbox.mailbox.waitFor(email)).text);
        const sessionToken = await startSession(test.app, { userId, organisationId, client: testClient });
        await begin();
        await verifyEmail(test.app, { token, browserToken: null, sessionToken }, testClient);
        return email;
      },
      'address-changed by user about user from client',
      'tells user.email_changed about user, organisation',
    ],
    [
      'a change of password',
      owner(({ api }) => api.accounts.changePassword({ current_password: testPassword, password: otherPassword })),
      'password-set by user about user from client',
    ],
    [
      'a password by a one-time link',
      afterwards(passwordToken, (_, token) => anonymous().accounts.setPassword({ token, password: otherPassword })),
      'password-set about user from client',
    ],
    [
      'a first password',
      afterwards(removePassword, (_, api) => api.accounts.setFirstPassword({ password: otherPassword })),
      'password-set by user about user from client',
    ],
    ['a completed onboarding', owner(({ api }) => api.accounts.onboard()), 'onboarded by user about user from client'],
    [
      'an onboarding that was completed before',
      afterwards(
        ({ api }) => api.accounts.onboard(),
        ({ api }) => api.accounts.onboard(),
      ),
    ],
    [
      'an identity that is unlinked',
      afterwards(
        ({ email, userId }) => linkSubject(test, userId, email),
        ({ api }) => api.accounts.unlinkIdentity({ password: testPassword }),
      ),
      'identity-unlinked by user about user from client',
    ],
    [
      'an unknown identity',
      async (begin) => {
        const email = newEmail();
        await begin();
        await signInAtIdentityProvider(email);
        return email;
      },
      'signed-up about user, organisation from client',
      'tells organisation.created about organisation',
      'tells member.joined about user, organisation',
    ],
    [
      'an identity with the address of an account',
      owner(({ email }) => signInAtIdentityProvider(email)),
      'identity-linked about user, organisation from client',
    ],
    [
      'an unknown identity of an approved domain',
      async (begin) => {
        const email = newEmail().replace('company', 'approved');
        await begin();
        await signInAtIdentityProvider(email);
        return email;
      },
      'organisation-approved about organisation from client',
      'signed-up about user, organisation from client',
      'tells organisation.created about organisation',
      'tells member.joined about user, organisation',
      'tells organisation.approved about organisation',
    ],
    [
      'a sign-in with a password',
      owner(({ email }) => anonymous().signIn.withPassword({ email, password: testPassword })),
      'signed-in by user about user, organisation from client',
    ],
    [
      'a sign-in with a wrong password',
      owner(({ email }) => fails(anonymous().signIn.withPassword({ email, password: otherPassword }))),
      'sign-in-failed about user from client',
    ],
    [
      'a sign-in with an unknown address',
      owner(() => fails(anonymous().signIn.withPassword({ email: newEmail(), password: otherPassword }))),
      'sign-in-failed from client',
    ],
    [
      'a sign-in to a suspended account',
      afterwards(
        ({ email }) => suspendUser(test.app, email),
        ({ email }) => fails(anonymous().signIn.withPassword({ email, password: testPassword })),
      ),
    ],
    [
      'a wrong password in a session',
      owner(({ api }) => fails(api.accounts.changeAddress({ email: newEmail(), password: otherPassword }))),
      'password-check-failed by user about user from client',
    ],
    [
      'an authenticator app that is added',
      owner(({ api }) => addTotp(test, api)),
      'factor-added by user about user from client',
    ],
    [
      'an authenticator app that is removed',
      afterwards(
        ({ api }) => addTotp(test, api),
        ({ api }) => api.factors.remove({ id: 'totp' }),
      ),
      'factor-removed by user about user from client',
    ],
    [
      'new recovery codes',
      afterwards(
        ({ api }) => addTotp(test, api),
        ({ api }) => api.factors.recoveryCodes(),
      ),
      'recovery-codes-made by user about user from client',
    ],
    [
      'a recovery code that is used',
      afterwards(
        async (held) => ({ held, ...(await addTotp(test, held.api)) }),
        async (_owner, { held, recoveryCodes: [code = ''] }) => {
          const browser = newBrowser(test);
          await browser.post('/api/login', { email: held.email, password: testPassword });
          await browser.post('/api/login/second-step', { recovery_code: code });
        },
      ),
      'recovery-code-used by user about user from client',
      'signed-in by user about user, organisation from client',
    ],
    [
      'a passkey whose counter goes back',
      afterwards(
        async ({ email }) => {
          const browser = newBrowser(test);
          const authenticator = newAuthenticator(serviceUrl);
          await browser.post('/api/login', { email, password: testPassword });
          const { body: options } = await browser.post('/api/factors/passkey/options');
          await browser.post('/api/factors/passkey', { name: 'Key', passkey: authenticator.create(options) });
          await test.app.db.update(passkeys).set({ counter: 50 });
          return { authenticator };
        },
        async (_owner, { authenticator }) => {
          const browser = newBrowser(test);
          const { body: options } = await browser.post('/api/login/passkey/options');
          await browser.post('/api/login/passkey', { passkey: authenticator.get(options) });
        },
      ),
      'passkey-refused about user from client',
      'sign-in-failed about user from client',
    ],
    [
      'a wrong code in the second step',
      afterwards(
        ({ api }) => addTotp(test, api),
        async ({ email }) => {
          const browser = newBrowser(test);
          await browser.post('/api/login', { email, password: testPassword });
          await browser.post('/api/login/second-step', { totp: '000000' });
        },
      ),
      'second-factor-failed about user from client',
    ],
    [
      'a sign-in again in a session',
      owner(({ api }) => api.signIn.again({ password: testPassword })),
      'signed-in-again by user about user from client',
    ],
    ['a sign-out', owner(({ api }) => api.signIn.out()), 'signed-out by user about user from client'],
    ['a sign-out without a session', owner(() => anonymous().signIn.out())],
    [
      'a session that is ended',
      afterwards(
        ({ email }) => signInAs(test, email),
        ({ api }, { principal }) => api.accounts.endSession({ id: principal.sessionId }),
      ),
      'session-ended by user about user from client',
    ],
    [
      'all other sessions ended',
      owner(({ api }) => api.accounts.endOtherSessions()),
      'session-ended by user about user from client',
    ],
    [
      'an account that is deleted',
      owner(({ api }) => api.leaving.deleteAccount({ password: testPassword })),
      'account-deleted by user about user',
      'organisation-deleted by user about organisation',
      'tells user.deleted about user, organisation',
      'tells member.left about user, organisation',
      'tells organisation.deleted about organisation',
    ],
  ];
}

async function fails(call: Promise<unknown>): Promise<void> {
  await expect(call).rejects.toThrow();
}
