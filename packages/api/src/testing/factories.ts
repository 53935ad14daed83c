import { randomBytes, randomUUID } from 'node:crypto';
import { recordAudit } from '../audit/record.ts';
import type { Principal, Role, UserPrincipal } from '../auth/principal.ts';
import { accountByEmail } from '../auth/sessions/account.ts';
import { readSession, startSession } from '../auth/sessions/session.ts';
import type { Identity } from '../auth/sign-in/id-token.ts';
import { linkIdentity } from '../auth/sign-in/match-user.ts';
import { signUp, signUpInput } from '../auth/sign-up/sign-up.ts';
import { verifyEmail } from '../auth/verification/verify-email.ts';
import { decideAnew } from '../billing/entitlement/decide-plan.ts';
import { recordJoined } from '../changes/record-change.ts';
import { commandLine } from '../operators/actor.ts';
import { approveOrganisations } from '../organisations/approve.ts';
import { createOrganisation } from '../organisations/organisation.ts';
import { newId } from '../platform/db/id.ts';
import { addressChanges, users } from '../platform/db/schema/accounts.ts';
import { paymentSubscriptions } from '../platform/db/schema/billing.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { hashPassword } from '../platform/security/password.ts';
import { normalisePassword } from '../platform/security/password-rules.ts';
import { type Caller, createCaller } from '../router/root.ts';
import type { Context } from '../router/trpc.ts';
import { approveOwner, grantOperator } from './admin-commands.ts';
import type { TestApp } from './app.ts';

export const testClient = { address: '127.0.0.1', userAgent: 'test' };
export const testPassword = 'a long enough pass phrase';

type TestUser = { email: string; userId: string; organisationId: string; principal: UserPrincipal; api: Caller };

export function newEmail(): string {
  return `person-${randomBytes(5).toString('hex')}@company.example`;
}

/** Signs a user up by the use case, and returns the link from the mail in the sandbox's mailbox. */
export async function makeSignUp(
  test: TestApp,
  { email = newEmail(), name = 'Company', invitation }: { email?: string; name?: string; invitation?: string } = {},
) {
  const { browserToken } = await signUp(
    test.app,
    signUpInput.parse({ email, password: testPassword, org_name: name, invitation }),
    testClient,
  );
  const mail = await test.sandbox.mailbox.waitFor(email);
  return { email, browserToken, mail, token: tokenIn(mail.text) };
}

/** Returns the token of the verification link in a mail. @throws Error if there is none. */
export function tokenIn(text: string | null | undefined): string {
  const token = /\/verify\?token=([\w-]+)/.exec(text ?? '')?.[1];
  if (token === undefined) throw new Error(`There is no verification link in: ${text}`);
  return token;
}

/** Creates an approved owner as a person does, by sign-up and the link in the mail, for tests of these. */
export async function signUpOwner(test: TestApp): Promise<TestUser> {
  const { email, token, browserToken } = await makeSignUp(test);
  await verifyEmail(test.app, { token, browserToken }, testClient);
  await approveOwner(test.app, email);
  return signInAs(test, email);
}

let testPasswordHash: Promise<string> | undefined;

/**
 * Creates an owner with a verified address, and unless `approved` is false an approved organisation. The
 * account is inserted, which takes a tenth of the time of `signUpOwner`.
 */
export async function makeOwner(
  test: TestApp,
  { approved = true, operator = false, name = 'Company' } = {},
): Promise<TestUser> {
  testPasswordHash ??= hashPassword(normalisePassword(testPassword), testClient);
  const passwordHash = await testPasswordHash;
  const email = newEmail();
  const now = test.app.now();
  const userId = newId(now);
  const organisationId = await test.app.db.transaction(async (tx) => {
    await tx.insert(users).values({ id: userId, email, passwordHash, emailVerifiedAt: now, createdAt: now });
    const organisationId = await createOrganisation(tx, now, { ownerId: userId, name, email });
    for (const action of ['signed-up', 'address-verified'] as const)
      await recordAudit(tx, now, { action, userId, organisationId, client: testClient });
    await recordJoined(tx, now, { organisationId, userId });
    const decision = { ...commandLine, organisationIds: [organisationId], now: test.app.now() };
    if (approved) await approveOrganisations(tx, decision);
    return organisationId;
  });
  if (operator) await grantOperator(test.app, email);
  return signIn(test, { email, userId, organisationId });
}

/** Adds a verified user with the given role to an organisation. */
export async function addMember(test: TestApp, organisationId: string, role: Role): Promise<TestUser> {
  const now = test.app.now();
  const id = newId(now);
  const email = newEmail();
  await test.app.db.transaction(async (tx) => {
    await tx.insert(users).values({ id, email, emailVerifiedAt: now, createdAt: now });
    await tx.insert(memberships).values({ userId: id, organisationId, role, createdAt: now });
    await recordJoined(tx, now, { organisationId, userId: id });
  });
  return signIn(test, { email, userId: id, organisationId });
}

/** Creates a verified user without an organisation, and a session. */
export async function makeAccount(test: TestApp) {
  const now = test.app.now();
  const userId = newId(now);
  const email = newEmail();
  await test.app.db.insert(users).values({ id: userId, email, emailVerifiedAt: now, createdAt: now });
  const session = await startSession(test.app, { userId, organisationId: null, fresh: true, client: testClient });
  const principal = await readSession(test.app, session);
  if (principal === null) throw new Error(`${email} gets no session`);
  return { email, userId, session, principal, api: callerFor(test, principal) };
}

/** Returns an identity, at an issuer whose addresses of every domain count as verified. */
export function makeIdentity(known: Partial<Identity> & { email: string }): Identity {
  return { issuer: 'https://idp.example', subject: randomUUID(), name: null, hostedDomain: null, ...known };
}

/** Links a subject of the identity provider to a user, as a sign-in with it would. */
export function linkSubject(test: TestApp, userId: string, subject: string): Promise<void> {
  const { issuer } = makeIdentity({ email: '' });
  return test.app.db.transaction((tx) => linkIdentity(tx, test.app.now(), { userId, issuer, subject }));
}

/** Creates an invitation to the administrator's organisation and returns its token. */
export async function makeInvitation(
  { api, organisationId }: Pick<TestUser, 'api' | 'organisationId'>,
  role: 'admin' | 'member' | 'viewer' = 'member',
): Promise<string> {
  const { url } = await api.members.invite({ organisation_id: organisationId, role });
  return new URL(url).searchParams.get('token') ?? '';
}

/** Inserts a subscription's row and decides the plan by it, so that an organisation has a paid plan. */
export async function givePlan(test: TestApp, organisationId: string, tier: 'silver' | 'gold'): Promise<void> {
  const row = { id: `sub_${organisationId}`, organisationId, customerId: 'customer', status: 'active', tier };
  await test.app.db.insert(paymentSubscriptions).values({ ...row, startedAt: test.app.now() });
  await decideNow(test.app, organisationId);
}

/** Decides an organisation's plan by its stored subscriptions, as whatever changes them does. */
export function decideNow(app: TestApp['app'], organisationId: string): Promise<void> {
  return app.db.transaction((tx) => decideAnew(app, tx, organisationId));
}

/** Starts a session of a user and returns a caller of the router for it. */
export async function signInAs(
  test: TestApp,
  email: string,
  { idpSubject = null }: { idpSubject?: string | null } = {},
): Promise<TestUser> {
  const person = await accountByEmail(test.app.db, email);
  if (person?.organisationId == null) throw new Error(`${email} has no organisation`);
  return signIn(test, { email, userId: person.user.id, organisationId: person.organisationId }, idpSubject);
}

async function signIn(
  test: TestApp,
  { email, userId, organisationId }: Pick<TestUser, 'email' | 'userId' | 'organisationId'>,
  idpSubject: string | null = null,
): Promise<TestUser> {
  const session = { userId, organisationId, idpSubject, fresh: idpSubject === null, client: testClient };
  const principal = await readSession(test.app, await startSession(test.app, session));
  if (principal === null) throw new Error(`${email} gets no session`);

  return { email, userId, organisationId, principal, api: callerFor(test, principal) };
}

type Asking = {
  client?: string;
  knownBrowser?: string | null;
  session?: Partial<Context['session']>;
};

/** Returns a caller of the router for a principal, or without one. */
export function callerFor(
  test: TestApp,
  principal: Principal | null,
  { client = testClient.address, knownBrowser = null, session }: Asking = {},
): Caller {
  return createCaller({
    app: test.app,
    principal,
    requestId: 'test',
    client: { ...testClient, address: client, knownBrowser },
    session: {
      start: async () => {},
      end: async () => {},
      begin: async () => {},
      stepToken: () => null,
      challengeCookie: () => null,
      rememberChallenge: () => {},
      renew: async () => {},
      rememberSignUp: () => {},
      browserToken: () => null,
      rememberAttempt: () => {},
      ...session,
    },
  });
}

/** Makes a change of address pending without a job, for a test that mails the link itself. */
export async function wantAddress({ app }: TestApp, { userId, email }: { userId: string; email: string }) {
  const pending = { email, expiresAt: new Date(app.now().getTime() + 3_600_000) };
  const set = { target: addressChanges.userId, set: pending };
  await app.db
    .insert(addressChanges)
    .values({ userId, ...pending })
    .onConflictDoUpdate(set);
}
