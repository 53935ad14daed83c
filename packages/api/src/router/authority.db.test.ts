import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertSession, readSession, startSession } from '../auth/sessions/session.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import { AppError } from '../platform/errors.ts';
import { declineOwner, suspendOrganisation, suspendUser } from '../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { addMember, callerFor, makeAccount, makeOwner, testClient } from '../testing/factories.ts';
import { addTotp } from '../testing/factors.ts';
import { keyPrincipals } from '../testing/keys.ts';
import { appRouter, type Caller } from './root.ts';

/**
 * The weakest authority that a procedure accepts. READ and ADMIN need a user; 'held READ' any
 * principal with the scope, 'key' a key with the scope WRITE, 'operator’s key' one that an operator made, 'deployment' a
 * key of the deployment, MANAGE one with that scope. What ends with 'in setup' is also open to a user who must set up a second factor first: 'leaving'
 * where the organisation requires it.
 */
type Need =
  | 'nothing'
  | 'session'
  | 'session in setup'
  | 'approved'
  | 'approved in setup'
  | 'leaving in setup'
  | 'READ'
  | 'ADMIN'
  | 'operator'
  | 'held READ'
  | 'key'
  | 'operator’s key'
  | 'deployment'
  | 'MANAGE';

/** The routers of which every procedure needs the same. */
const needOfRouter = { operators: 'operator', management: 'MANAGE' } as const;
const procedures = Object.keys(appRouter._def.procedures);

/** What every procedure of the router needs. A procedure that is missing here fails the first test. */
const needs: Record<string, Need> = {
  ...Object.fromEntries(
    Object.entries(needOfRouter).flatMap(([router, need]) =>
      procedures.filter((path) => path.startsWith(`${router}.`)).map((path) => [path, need]),
    ),
  ),
  'accounts.signUp': 'nothing',
  'accounts.resend': 'nothing',
  'accounts.passwordToken': 'nothing',
  'accounts.setPassword': 'nothing',
  'accounts.approveByDomain': 'nothing',
  'accounts.keepPassword': 'nothing',
  'accounts.changeToken': 'nothing',
  'accounts.confirmChange': 'nothing',
  'accounts.onboard': 'approved',
  'accounts.approvalProgress': 'session',
  'accounts.profile': 'session',
  'accounts.activity': 'approved',
  'accounts.changeAddress': 'approved',
  'accounts.resendAddressChange': 'approved',
  'accounts.cancelAddressChange': 'approved',
  'accounts.changeName': 'approved',
  'accounts.changePassword': 'session',
  'accounts.setFirstPassword': 'session',
  'accounts.unlinkIdentity': 'approved',
  'accounts.acknowledgeBrowsers': 'session',
  'accounts.newBrowsers': 'session',
  'accounts.confirmWithProvider': 'session in setup',
  'accounts.connectIdentity': 'approved',
  'accounts.endSession': 'session',
  'accounts.endOtherSessions': 'session',
  'billing.checkout': 'ADMIN',
  'billing.currency': 'ADMIN',
  'billing.portal': 'ADMIN',
  'billing.cancel': 'ADMIN',
  'billing.resume': 'ADMIN',
  'billing.estimate': 'ADMIN',
  'billing.invoices': 'ADMIN',
  'billing.confirm': 'READ',
  'changes.since': 'held READ',
  'entitlements.check': 'held READ',
  'entitlements.get': 'held READ',
  'keys.list': 'ADMIN',
  'factors.list': 'approved in setup',
  'factors.warnings': 'approved',
  'factors.requirement': 'approved in setup',
  'factors.totp': 'approved in setup',
  'factors.totpSetup': 'approved in setup',
  'factors.confirmTotp': 'approved in setup',
  'factors.passkeyOptions': 'approved in setup',
  'factors.addPasskey': 'approved in setup',
  'factors.recoveryCodes': 'approved',
  'factors.remove': 'approved',
  'factors.review': 'session in setup',
  'factors.answerReview': 'session in setup',
  'keys.create': 'ADMIN',
  'keys.revoke': 'ADMIN',
  'leaving.export': 'approved',
  'leaving.deletion': 'session',
  'leaving.deleteAccount': 'session',
  'leaving.deleteOrganisation': 'ADMIN',
  'members.list': 'held READ',
  'members.search': 'READ',
  'members.invitations': 'ADMIN',
  'members.invite': 'ADMIN',
  'members.withdraw': 'ADMIN',
  'members.invitation': 'nothing',
  'members.join': 'session',
  'members.changeRole': 'ADMIN',
  'members.remove': 'ADMIN',
  'members.leave': 'leaving in setup',
  'members.ownStarted': 'leaving in setup',
  'members.startedBy': 'ADMIN',
  'organisations.changeBillingContact': 'ADMIN',
  'organisations.create': 'approved',
  'organisations.auditLog': 'ADMIN',
  'organisations.withdraw': 'approved',
  'organisations.list': 'deployment',
  'organisations.mine': 'leaving in setup',
  'organisations.read': 'READ',
  'organisations.rename': 'ADMIN',
  'organisations.switch': 'leaving in setup',
  'organisations.secondFactorRule': 'ADMIN',
  'organisations.requireSecondFactor': 'ADMIN',
  'organisations.transfer': 'ADMIN',
  'service.openapi': 'nothing',
  'sessions.verify': 'READ',
  'signIn.again': 'session in setup',
  'signIn.secondStep': 'nothing',
  'signIn.step': 'nothing',
  'signIn.passkeyOptions': 'nothing',
  'signIn.withPasskey': 'nothing',
  'signIn.withPassword': 'nothing',
  'signIn.out': 'nothing',
  'subscription.overview': 'READ',
  'subscription.overviewWithHistory': 'READ',
  'subscription.read': 'READ',
  'tokens.issue': 'held READ',
  'tokens.keySet': 'nothing',
  'usage.commit': 'key',
  'usage.read': 'held READ',
  'usage.release': 'key',
  'usage.report': 'operator’s key',
  'usage.reserve': 'key',
  'usage.set': 'operator’s key',
};

const awaiting: Need[] = ['session', 'session in setup'];
const user: Need[] = [...awaiting, 'approved', 'approved in setup', 'leaving in setup'];

/** The authority of each kind of principal, and the code that it gets from procedures that need another one. */
const kinds: Record<string, { has: Need[]; otherwise: string }> = {
  'no session': { has: ['nothing'], otherwise: 'UNAUTHENTICATED' },
  'session of a suspended user': { has: ['nothing'], otherwise: 'UNAUTHENTICATED' },
  'session of a declined user': { has: ['nothing'], otherwise: 'UNAUTHENTICATED' },
  'session in a suspended organisation': { has: ['nothing'], otherwise: 'UNAUTHENTICATED' },
  'awaiting approval': { has: ['nothing', ...awaiting], otherwise: 'AWAITING_APPROVAL' },
  'operator awaiting approval': { has: ['nothing', ...awaiting], otherwise: 'AWAITING_APPROVAL' },
  'without organisation': { has: ['nothing', ...user], otherwise: 'FORBIDDEN' },
  viewer: { has: ['nothing', ...user, 'READ', 'held READ'], otherwise: 'FORBIDDEN' },
  member: { has: ['nothing', ...user, 'READ', 'held READ'], otherwise: 'FORBIDDEN' },
  admin: {
    has: ['nothing', ...user, 'READ', 'held READ', 'ADMIN'],
    otherwise: 'FORBIDDEN',
  },
  owner: {
    has: ['nothing', ...user, 'READ', 'held READ', 'ADMIN'],
    otherwise: 'FORBIDDEN',
  },
  operator: {
    has: ['nothing', ...user, 'READ', 'held READ', 'ADMIN', 'operator'],
    otherwise: 'FORBIDDEN',
  },
  'operator without the factor that the service requires': {
    has: ['nothing', 'session in setup', 'approved in setup'],
    otherwise: 'SECOND_FACTOR_SETUP',
  },
  'owner without the factor that the organisation requires': {
    has: ['nothing', 'session in setup', 'approved in setup', 'leaving in setup'],
    otherwise: 'SECOND_FACTOR_SETUP',
  },
  'operator who had no factor for seven days': {
    has: ['nothing', ...user, 'READ', 'held READ', 'ADMIN'],
    otherwise: 'FORBIDDEN',
  },
  'revoked key': { has: ['nothing'], otherwise: 'UNAUTHENTICATED' },
  'key of a suspended organisation': { has: ['nothing'], otherwise: 'FORBIDDEN' },
  'key of an organisation that awaits approval': { has: ['nothing'], otherwise: 'AWAITING_APPROVAL' },
  'key that reads': { has: ['nothing', 'held READ'], otherwise: 'FORBIDDEN' },
  'key that writes': { has: ['nothing', 'held READ', 'key'], otherwise: 'FORBIDDEN' },
  'key that an operator made': { has: ['nothing', 'held READ', 'key', 'operator’s key'], otherwise: 'FORBIDDEN' },
  'deployment’s key that reads': { has: ['nothing', 'held READ', 'deployment'], otherwise: 'FORBIDDEN' },
  'deployment’s key that writes': {
    has: ['nothing', 'held READ', 'key', 'operator’s key', 'deployment'],
    otherwise: 'FORBIDDEN',
  },
  'deployment’s key that manages': {
    has: ['nothing', 'held READ', 'key', 'operator’s key', 'deployment', 'MANAGE'],
    otherwise: 'FORBIDDEN',
  },
};

let test: TestApp;
const callers: Record<string, Caller> = {};

beforeAll(async () => {
  test = await startTestApp({ environment: { PAYMENT_SECRET_KEY: '', TOKEN_TTL_SECONDS: '300' } });
  const owner = await makeOwner(test);
  callers['no session'] = callerFor(test, null);
  callers['session of a suspended user'] = await callerAfter(
    await addMember(test, owner.organisationId, 'admin'),
    ({ email }) => suspendUser(test.app, email),
  );
  callers['session of a declined user'] = await callerAfter(await makeOwner(test, { approved: false }), ({ email }) =>
    declineOwner(test.app, email, 'Unknown.'),
  );
  callers['session in a suspended organisation'] = await callerAfter(
    await makeOwner(test, { operator: true }),
    ({ principal }) => suspendOrganisation(test.app, principal.organisation?.slug ?? ''),
  );
  callers['awaiting approval'] = (await makeOwner(test, { approved: false })).api;
  callers['operator awaiting approval'] = await callerAfter(
    await makeOwner(test, { operator: true }),
    async ({ organisationId }) => {
      await test.app.db.update(organisations).set({ approval: 'pending' }).where(eq(organisations.id, organisationId));
    },
  );
  const [operator, requiring] = [await makeOwner(test, { operator: true }), await makeOwner(test)];
  callers['operator without the factor that the service requires'] = await callerAfter(
    operator,
    async () => {},
    requiringApp('operators'),
  );
  callers['owner without the factor that the organisation requires'] = await callerAfter(
    requiring,
    ({ organisationId }) =>
      test.app.db
        .update(organisations)
        .set({ secondFactorFrom: test.app.now() })
        .where(eq(organisations.id, organisationId)),
  );
  // One who has set up a factor since, too late.
  const late = await makeOwner(test, { operator: true });
  await addTotp(test, late.api);
  const lapsed = await passedStep(late.userId, late.organisationId);
  await test.app.db.update(users).set({ factorDueAt: test.app.now() }).where(eq(users.id, late.userId));
  callers['operator who had no factor for seven days'] = callerFor(
    test,
    await readSession(requiringApp('operators'), lapsed),
  );
  callers['without organisation'] = (await makeAccount(test)).api;
  for (const role of ['viewer', 'member', 'admin'] as const) {
    callers[role] = (await addMember(test, owner.organisationId, role)).api;
  }
  callers.owner = owner.api;
  callers.operator = (await makeOwner(test, { operator: true })).api;
  for (const [kind, principal] of Object.entries(await keyPrincipals(test))) callers[kind] = callerFor(test, principal);
});
afterAll(() => test.close());

type Made = Awaited<ReturnType<typeof makeOwner>>;

function requiringApp(secondFactor: 'operators' | 'everybody'): TestApp['app'] {
  return { ...test.app, config: { ...test.app.config, secondFactor } };
}

/** Starts a session of a user with a second factor, as one that was given does. */
function passedStep(userId: string, organisationId: string): Promise<string> {
  return test.app.db.transaction((tx) =>
    insertSession(test.app, tx, { userId, organisationId, fresh: true, freshByFactor: true, client: testClient }),
  );
}

/** Returns the router for a session's first request after a change to its account. */
async function callerAfter(
  made: Made,
  change: (made: Made) => Promise<unknown>,
  app: TestApp['app'] = test.app,
): Promise<Caller> {
  const { userId, organisationId } = made;
  const session = await startSession(test.app, { userId, organisationId, client: testClient });
  await change(made);
  return callerFor(test, await readSession(app, session));
}

it('covers every procedure and every kind of principal', () => {
  expect(Object.keys(callers).sort()).toEqual(Object.keys(kinds).sort());
  expect(Object.keys(needs).sort()).toEqual(procedures.toSorted());
});

/** Returns the code of the error that refuses the principal; null if the principal is accepted. */
async function errorCodeOf(caller: Caller | undefined, path: string, input: unknown = {}): Promise<string | null> {
  const [domain = '', name = ''] = path.split('.');
  const procedure = (caller as unknown as Record<string, Record<string, (input: unknown) => Promise<unknown>>>)[
    domain
  ]?.[name];
  const ended = await procedure?.(input).then(
    () => null,
    (error) => error.cause,
  );
  const isAuthority =
    (ended?.message ?? '').match(/^(Sign in first|Send an API key(, or sign in first)?)\.$/) !== null ||
    ['AWAITING_APPROVAL', 'SECOND_FACTOR_SETUP', 'FORBIDDEN'].includes(ended?.code ?? '');
  return isAuthority ? ended.code : null;
}

describe.each(Object.entries(kinds))('%s', (kind, { has, otherwise }) => {
  it.each(Object.entries(needs))('at %s, which needs %s', async (path, need) => {
    expect(await errorCodeOf(callers[kind], path)).toBe(has.includes(need) ? null : otherwise);
  });
});

it.each(Object.entries(needs).filter(([, need]) => need !== 'nothing'))(
  '%s refuses a body that is not JSON only after the principal, which needs %s',
  async (path, need) => {
    const unreadable = new AppError('NOT_JSON', 'Send the body as JSON.');
    for (const [kind, { has, otherwise }] of Object.entries(kinds)) {
      if (!has.includes(need))
        expect([kind, await errorCodeOf(callers[kind], path, unreadable)]).toEqual([kind, otherwise]);
    }
  },
);

it('checks the scope before it parses the input', async () => {
  await expect(callers.viewer?.billing.checkout({ tier: 7 })).rejects.toMatchObject({ cause: { code: 'FORBIDDEN' } });
  await expect(callers.owner?.billing.checkout({ tier: 7 })).rejects.toMatchObject({
    cause: { code: 'BILLING_UNAVAILABLE', message: 'Billing is not available on this deployment.' },
  });
});

it('does not end another user’s session', async () => {
  const { userId, organisationId, api } = await makeOwner(test);
  await startSession(test.app, { userId, organisationId, client: testClient });
  const [session] = (await api.accounts.profile()).sessions;
  await expect(callers.owner?.accounts.endSession({ id: session?.id ?? '' })).rejects.toMatchObject({
    cause: { code: 'NOT_FOUND' },
  });
});
