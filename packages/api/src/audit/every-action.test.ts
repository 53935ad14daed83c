import { randomUUID } from 'node:crypto';
import { asc, eq, notInArray } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { verifyEmail } from '../accounts/verification/verify-email.ts';
import { users } from '../db/schema/accounts.ts';
import { auditEvents } from '../db/schema/audit.ts';
import { paymentEvents } from '../db/schema/billing.ts';
import { startCustomerAnew } from '../operators/start-customer-anew.ts';
import { accountByEmail } from '../sessions/account.ts';
import { startSession } from '../sessions/session.ts';
import { matchUser } from '../sign-in/match-user.ts';
import {
  approveOwner,
  declineOwner,
  grantOperator,
  makePasswordLink,
  restoreOrganisation,
  restoreUser,
  revokeOperator,
  suspendOrganisation,
  suspendUser,
} from '../testing/admin-commands.ts';
import { type BillingTest, ownedBy, startBillingTest } from '../testing/billing.ts';
import {
  addMember,
  callerFor,
  linkSubject,
  makeAccount,
  makeIdentity,
  makeInvitation,
  makeOwner,
  makeSignUp,
  newEmail,
  signInAs,
  testClient,
  testPassword,
  tokenIn,
} from '../testing/factories.ts';
import type { AuditAction } from './record.ts';

let test: BillingTest;
let operator: Owner;
beforeAll(async () => {
  test = await startBillingTest({ environment: { APPROVED_DOMAINS: 'approved.example' } });
  operator = await makeOwner(test, { operator: true });
});
afterAll(() => test.close());

type Owner = Awaited<ReturnType<typeof makeOwner>>;

/**
 * Does something, and answers the address of whom it happens to. What it makes before it
 * says that it begins does not count; whoever is gone afterwards is named then.
 */
type Case = (begin: (email?: string) => Promise<void>) => Promise<string>;

const other = 'quite another pass phrase';

/** An owner who does something, or to whom something is done. */
function owner(act: (owner: Owner) => Promise<unknown>, options: Parameters<typeof makeOwner>[1] = {}): Case {
  return async (begin) => {
    const made = await makeOwner(test, options);
    await begin(made.email);
    await act(made);
    return made.email;
  };
}

/** The same after something else was done, in the state that it leaves them in. */
function afterwards<Held>(
  before: (owner: Owner) => Promise<Held>,
  act: (owner: Owner, held: Held) => Promise<unknown>,
  options: Parameters<typeof makeOwner>[1] = {},
): Case {
  return async (begin) => {
    const made = await makeOwner(test, options);
    const held = await before(made);
    await begin();
    await act(made, held);
    return made.email;
  };
}

/** Somebody in an owner's organisation, to whom something is done. */
function byMember(
  act: (owner: Owner, who: { organisation_id: string; user_id: string }, member: Owner) => Promise<unknown>,
): Case {
  return async (begin) => {
    const made = await makeOwner(test);
    const member = await addMember(test, made.organisationId, 'member');
    await begin(member.email);
    await act(made, { organisation_id: made.organisationId, user_id: member.userId }, member);
    return member.email;
  };
}

/** An owner whose organisation pays for a plan: the subscription's id, and the name of an event about it. */
async function pay({ api, principal }: Owner) {
  test.sandbox.payment.payCheckout((await api.billing.checkout({ tier: 'silver' })).url);
  await test.settled();
  const [subscription] = ownedBy(test, principal).subscriptions;
  const [event] = await test.app.db
    .select()
    .from(paymentEvents)
    .where(eq(paymentEvents.organisationId, principal.organisationId ?? ''));
  return { subscription_id: subscription?.id ?? '', event_id: event?.id ?? '' };
}

/** An owner whose customer the provider does not know. */
async function forgotten({ api, principal }: Owner): Promise<void> {
  await api.billing.portal();
  for (const { id } of ownedBy(test, principal).customers) delete test.sandbox.payment.state().customers[id];
}

/** A door that keeps sessions, for nobody in particular. */
function anybody() {
  const start = async (holder: { userId: string; organisationId: string | null; passwordHash?: string | null }) => {
    await startSession(test.app, { ...holder, client: testClient });
  };
  return callerFor(test, null, { session: { start } });
}

function atIdentityProvider(email: string, subject: string = randomUUID()) {
  return test.app.db.transaction((tx) => matchUser(test.app, tx, makeIdentity({ email, subject }), testClient));
}

async function withoutPassword({ userId, email }: Owner) {
  await test.app.db.update(users).set({ passwordHash: null }).where(eq(users.id, userId));
  await linkSubject(test, userId, email);
  return (await signInAs(test, email)).api;
}

function slugOf({ principal }: Owner): string {
  return principal.organisation?.slug ?? '';
}

async function tokenFor(email: string): Promise<string> {
  return new URL(await makePasswordLink(test.app, email)).searchParams.get('token') ?? '';
}

function approvedEmail(): string {
  return newEmail().replace('company', 'approved');
}

const itself = { actor: 'person', user: 'person', from: 'client' };
const ofPerson = { user: 'person', from: 'client' };
const ofBoth = { user: 'person', organisation: 'organisation', from: 'client' };
const ofOrganisation = { organisation: 'organisation' };
const inConsole = { actor: 'operator', from: 'client' };

/** What happens, and the rows that it leaves: who did it, to whom and to which organisation, and from where. */
const table: [what: string, act: Case, rows: ({ action: AuditAction } & Record<string, string>)[]][] = [
  [
    'a sign-up',
    async (begin) => {
      const email = newEmail();
      await begin();
      await anybody().accounts.signUp({ email, password: other });
      return email;
    },
    [{ action: 'signed-up', ...ofBoth }],
  ],
  [
    'a sign-up with a known address',
    owner(({ email }) => anybody().accounts.signUp({ email, password: other })),
    [{ action: 'signed-up-again', ...ofPerson }],
  ],
  [
    'an opened link',
    async (begin) => {
      const { email, token } = await makeSignUp(test);
      await begin();
      await verifyEmail(test.app, { token, browserToken: null }, testClient);
      return email;
    },
    [{ action: 'address-verified', ...ofBoth }],
  ],
  ['a dead link', owner(() => verifyEmail(test.app, { token: 'unknown', browserToken: null }, testClient)), []],
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
    [{ action: 'address-changed', ...itself }],
  ],
  [
    'a password in place of another',
    owner(({ api }) => api.accounts.changePassword({ current_password: testPassword, password: other })),
    [{ action: 'password-set', ...itself }],
  ],
  [
    'a password by a one-time link',
    afterwards(
      ({ email }) => tokenFor(email),
      (_, token) => anybody().accounts.setPassword({ token, password: other }),
    ),
    [{ action: 'password-set', ...ofPerson }],
  ],
  [
    'a first password',
    afterwards(withoutPassword, (_, api) => api.accounts.setFirstPassword({ password: other })),
    [{ action: 'password-set', ...itself }],
  ],
  ['a passed first screen', owner(({ api }) => api.accounts.onboard()), [{ action: 'onboarded', ...itself }]],
  [
    'a first screen that was passed before',
    afterwards(
      ({ api }) => api.accounts.onboard(),
      ({ api }) => api.accounts.onboard(),
    ),
    [],
  ],
  [
    'an identity provider taken away',
    afterwards(
      ({ email, userId }) => linkSubject(test, userId, email),
      ({ api }) => api.accounts.unlinkIdentity({ password: testPassword }),
    ),
    [{ action: 'identity-unlinked', ...itself }],
  ],
  [
    'an identity that nobody knows yet',
    async (begin) => {
      const email = newEmail();
      await begin();
      await atIdentityProvider(email);
      return email;
    },
    [{ action: 'signed-up', ...ofBoth }],
  ],
  [
    'an identity with the address of an account',
    owner(({ email }) => atIdentityProvider(email)),
    [{ action: 'identity-linked', ...ofBoth }],
  ],
  [
    'an identity of a domain that needs no approval',
    async (begin) => {
      const email = approvedEmail();
      await begin();
      await atIdentityProvider(email);
      return email;
    },
    [
      { action: 'organisation-approved', ...ofOrganisation, from: 'client' },
      { action: 'signed-up', ...ofBoth },
    ],
  ],
  [
    'a sign-in with a password',
    owner(({ email }) => anybody().signIn.withPassword({ email, password: testPassword })),
    [{ action: 'signed-in', ...itself, organisation: 'organisation' }],
  ],
  [
    'a sign-in with a wrong password',
    owner(({ email }) => refused(anybody().signIn.withPassword({ email, password: other }))),
    [{ action: 'sign-in-failed', ...ofPerson }],
  ],
  [
    'a sign-in of nobody',
    owner(() => refused(anybody().signIn.withPassword({ email: newEmail(), password: other }))),
    [{ action: 'sign-in-failed', from: 'client' }],
  ],
  [
    'a sign-in to a closed account',
    afterwards(
      ({ email }) => suspendUser(test.app, email),
      ({ email }) => refused(anybody().signIn.withPassword({ email, password: testPassword })),
    ),
    [],
  ],
  [
    'a wrong password at a session',
    owner(({ api }) => refused(api.accounts.changeAddress({ email: newEmail(), password: other }))),
    [{ action: 'password-check-failed', ...itself }],
  ],
  ['a sign-out', owner(({ api }) => api.signIn.out()), [{ action: 'signed-out', ...itself }]],
  ['a sign-out of nobody', owner(() => anybody().signIn.out()), []],
  [
    'an ended session',
    afterwards(
      ({ email }) => signInAs(test, email),
      ({ api }, { principal }) => api.accounts.endSession({ id: principal.sessionId }),
    ),
    [{ action: 'session-ended', ...itself }],
  ],
  ['ended sessions', owner(({ api }) => api.accounts.endOtherSessions()), [{ action: 'session-ended', ...itself }]],
  [
    'a deleted account',
    owner(({ api }) => api.leaving.deleteAccount({ password: testPassword })),
    [
      { action: 'account-deleted', ...itself },
      { action: 'organisation-deleted', actor: 'person', ...ofOrganisation, from: 'client' },
    ],
  ],
  [
    'an approval in the console',
    owner(({ organisationId }) => operator.api.operators.approve({ organisation_ids: [organisationId] }), {
      approved: false,
    }),
    [{ action: 'organisation-approved', ...ofOrganisation, ...inConsole }],
  ],
  [
    'an approval of what is approved',
    owner(({ organisationId }) => operator.api.operators.approve({ organisation_ids: [organisationId] })),
    [],
  ],
  [
    'a decline in the console',
    owner(({ organisationId }) => operator.api.operators.decline({ organisation_ids: [organisationId] }), {
      approved: false,
    }),
    [{ action: 'organisation-declined', ...ofOrganisation, ...inConsole }],
  ],
  [
    'a decision undone in the console',
    owner(({ organisationId }) => operator.api.operators.undoDecision({ organisation_id: organisationId })),
    [{ action: 'decision-undone', ...ofOrganisation, ...inConsole }],
  ],
  [
    'a suspension of an organisation in the console',
    owner(({ organisationId }) => operator.api.operators.suspendOrganisation({ organisation_id: organisationId })),
    [{ action: 'organisation-suspended', ...ofOrganisation, ...inConsole }],
  ],
  [
    'a restoration of an organisation in the console',
    afterwards(
      ({ organisationId }) => operator.api.operators.suspendOrganisation({ organisation_id: organisationId }),
      ({ organisationId }) => operator.api.operators.restoreOrganisation({ organisation_id: organisationId }),
    ),
    [{ action: 'organisation-restored', ...ofOrganisation, ...inConsole }],
  ],
  [
    'a suspension in the console',
    owner(({ userId }) => operator.api.operators.suspend({ user_id: userId })),
    [{ action: 'person-suspended', user: 'person', ...inConsole }],
  ],
  [
    'a restoration in the console',
    afterwards(
      ({ userId }) => operator.api.operators.suspend({ user_id: userId }),
      ({ userId }) => operator.api.operators.restore({ user_id: userId }),
    ),
    [{ action: 'person-restored', user: 'person', ...inConsole }],
  ],
  [
    'a password link in the console',
    owner(({ userId }) => operator.api.operators.passwordLink({ user_id: userId })),
    [{ action: 'password-link-made', user: 'person', ...inConsole }],
  ],
  [
    'all subscriptions compared in the console',
    owner(() => operator.api.operators.compareNow()),
    [{ action: 'billing-reconciled', ...inConsole }],
  ],
  [
    'a customer given up',
    afterwards(forgotten, ({ principal }) =>
      startCustomerAnew(test.app, { organisationId: principal.organisation?.id ?? '' }),
    ),
    [{ action: 'customer-started-anew', ...ofOrganisation }],
  ],
  [
    'a payment event applied again',
    afterwards(pay, (_, { event_id }) => operator.api.operators.applyAgain({ event_id })),
    [{ action: 'event-applied-again', ...inConsole }],
  ],
  [
    'a subscription synced',
    afterwards(pay, (_, { subscription_id }) => operator.api.operators.syncNow({ subscription_id })),
    [{ action: 'subscription-synced', ...ofOrganisation, ...inConsole }],
  ],
  [
    'a checkout',
    owner(({ api }) => api.billing.checkout({ tier: 'gold' })),
    [{ action: 'plan-checkout', actor: 'person', ...ofOrganisation }],
  ],
  [
    'the portal',
    afterwards(pay, ({ api }) => api.billing.portal()),
    [{ action: 'plan-portal', actor: 'person', ...ofOrganisation }],
  ],
  [
    'a scheduled end of a plan',
    afterwards(pay, ({ api }) => api.billing.cancel()),
    [{ action: 'plan-cancelled', actor: 'person', ...ofOrganisation }],
  ],
  [
    'an end of a plan taken back',
    afterwards(
      async (made) => {
        await pay(made);
        await made.api.billing.cancel();
      },
      ({ api }) => api.billing.resume(),
    ),
    [{ action: 'plan-resumed', actor: 'person', ...ofOrganisation }],
  ],
  [
    'an approval by command',
    owner(({ email }) => approveOwner(test.app, email), { approved: false }),
    [{ action: 'organisation-approved', ...ofOrganisation }],
  ],
  [
    'an approval by command of what was declined',
    afterwards(
      ({ email }) => declineOwner(test.app, email, 'Not a customer.'),
      ({ email }) => approveOwner(test.app, email),
      { approved: false },
    ),
    [{ action: 'organisation-approved', ...ofOrganisation }],
  ],
  [
    'a decline by command',
    owner(({ email }) => declineOwner(test.app, email, 'Not a customer.'), { approved: false }),
    [{ action: 'organisation-declined', ...ofOrganisation }],
  ],
  [
    'a mark of an operator',
    owner(({ email }) => grantOperator(test.app, email), { approved: false }),
    [
      { action: 'operator-granted', user: 'person' },
      { action: 'organisation-approved', ...ofOrganisation },
    ],
  ],
  [
    'a mark taken away',
    owner(({ email }) => revokeOperator(test.app, email), { operator: true }),
    [{ action: 'operator-revoked', user: 'person' }],
  ],
  [
    'a suspension by command',
    owner(({ email }) => suspendUser(test.app, email)),
    [{ action: 'person-suspended', user: 'person' }],
  ],
  [
    'a restoration by command',
    afterwards(
      ({ email }) => suspendUser(test.app, email),
      ({ email }) => restoreUser(test.app, email),
    ),
    [{ action: 'person-restored', user: 'person' }],
  ],
  [
    'a password link by command',
    owner(({ email }) => makePasswordLink(test.app, email)),
    [{ action: 'password-link-made', user: 'person' }],
  ],
  [
    'an invitation',
    owner(({ api, organisationId }) => api.members.invite({ organisation_id: organisationId, role: 'member' })),
    [{ action: 'invitation-made', actor: 'person', ...ofOrganisation, from: 'client' }],
  ],
  [
    'an invitation that is withdrawn',
    afterwards(makeInvitation, async ({ api }) => {
      const [invitation] = await api.members.invitations();
      await api.members.withdraw({ id: invitation?.id ?? '' });
    }),
    [{ action: 'invitation-withdrawn', actor: 'person', ...ofOrganisation, from: 'client' }],
  ],
  [
    'an API key',
    owner(({ api, organisationId }) => api.keys.create({ organisation_id: organisationId, name: 'Service' })),
    [{ action: 'api-key-created', actor: 'person', ...ofOrganisation, from: 'client' }],
  ],
  [
    'an API key that is revoked',
    afterwards(
      ({ api, organisationId }) => api.keys.create({ organisation_id: organisationId, name: 'Service' }),
      ({ api }, { id }) => api.keys.revoke({ id }),
    ),
    [{ action: 'api-key-revoked', actor: 'person', ...ofOrganisation, from: 'client' }],
  ],
  [
    'an API key of the deployment',
    owner(() => operator.api.operators.createKey({ name: 'Service' })),
    [{ action: 'api-key-created', ...inConsole }],
  ],
  [
    'somebody who joins',
    async (begin) => {
      const token = await makeInvitation(await makeOwner(test));
      const { api, email } = await makeAccount(test);
      await begin(email);
      await api.members.join({ token });
      return email;
    },
    [{ action: 'member-joined', ...itself, ...ofOrganisation }],
  ],
  [
    'another role',
    byMember(({ api }, who) => api.members.changeRole({ ...who, role: 'viewer' })),
    [{ action: 'role-changed', actor: 'somebody else', ...ofBoth }],
  ],
  [
    'a removed member',
    byMember(({ api }, who) => api.members.remove(who)),
    [{ action: 'member-removed', actor: 'somebody else', ...ofBoth }],
  ],
  [
    'a member who leaves',
    byMember((_, { organisation_id }, { api }) => api.members.leave({ organisation_id })),
    [{ action: 'organisation-left', ...itself, ...ofOrganisation }],
  ],
  [
    'a plan that starts',
    owner(pay),
    [
      { action: 'plan-checkout', actor: 'person', ...ofOrganisation },
      { action: 'subscription-started', ...ofOrganisation },
    ],
  ],
  [
    'an organisation that its owner renames',
    owner(({ api, organisationId }) => api.organisations.rename({ organisation_id: organisationId, name: 'Renamed' })),
    [{ action: 'organisation-renamed', actor: 'person', ...ofOrganisation, from: 'client' }],
  ],
  [
    'another billing address',
    owner(({ api, organisationId }) =>
      api.organisations.changeBillingContact({ organisation_id: organisationId, email: 'bills@company.example' }),
    ),
    [{ action: 'billing-contact-changed', actor: 'person', ...ofOrganisation, from: 'client' }],
  ],
  [
    'a transfer of the ownership',
    byMember(({ api }, { organisation_id }, { email }) =>
      api.organisations.transfer({ organisation_id, email, password: testPassword }),
    ),
    [{ action: 'ownership-transferred', actor: 'somebody else', ...ofBoth }],
  ],
  [
    'an organisation that its owner deletes',
    owner(({ api, organisationId }) =>
      api.leaving.deleteOrganisation({ organisation_id: organisationId, password: testPassword }),
    ),
    [{ action: 'organisation-deleted', actor: 'person', ...ofOrganisation, from: 'client' }],
  ],
  [
    'a user without an organisation who creates one',
    async (begin) => {
      const { api, email } = await makeAccount(test);
      await begin(email);
      await api.organisations.create({ org_name: 'Fresh Start' });
      return email;
    },
    [{ action: 'organisation-created', ...itself, ...ofOrganisation }],
  ],
  [
    'a suspended organisation',
    owner((made) => suspendOrganisation(test.app, slugOf(made))),
    [{ action: 'organisation-suspended', ...ofOrganisation }],
  ],
  [
    'a restored organisation',
    afterwards(
      (made) => suspendOrganisation(test.app, slugOf(made)),
      (made) => restoreOrganisation(test.app, slugOf(made)),
    ),
    [{ action: 'organisation-restored', ...ofOrganisation }],
  ],
];

async function refused(call: Promise<unknown>): Promise<void> {
  await expect(call).rejects.toThrow();
}

it.each(table)('%s leaves what it must, and no more', async (_, act, rows) => {
  const words = new Map([[operator.userId, 'operator']]);
  const name = async (email: string) => {
    const person = await accountByEmail(test.app.db, email);
    if (person !== null) words.set(person.user.id, 'person').set(person.organisationId ?? '', 'organisation');
  };
  let before: string[] = [];
  const email = await act(async (known) => {
    if (known !== undefined) await name(known);
    before = (await test.app.db.select({ id: auditEvents.id }).from(auditEvents)).map(({ id }) => id);
  });
  await name(email);

  const written = await test.app.db
    .select()
    .from(auditEvents)
    .where(notInArray(auditEvents.id, before))
    .orderBy(asc(auditEvents.action));
  expect(written.map((row) => inWords(row, words))).toEqual(rows);
  for (const { userAgent, client } of written) expect(userAgent).toBe(client && testClient.userAgent);
});

/** A row by the words for whom it names, without what it does not name. */
function inWords(row: typeof auditEvents.$inferSelect, words: Map<string, string>) {
  const named = { actor: row.actorId, user: row.userId, organisation: row.organisationId };
  const entries = Object.entries(named).filter((entry): entry is [string, string] => entry[1] !== null);
  return {
    action: row.action,
    ...Object.fromEntries(entries.map(([as, id]) => [as, words.get(id) ?? 'somebody else'])),
    ...(row.client !== null && { from: row.client === testClient.address ? 'client' : row.client }),
  };
}

/** The type makes a new action impossible to forget here, and the test in the table. */
const every: Record<AuditAction, true> = {
  'signed-up': true,
  'signed-up-again': true,
  'address-verified': true,
  'address-changed': true,
  'signed-in': true,
  'sign-in-failed': true,
  'password-check-failed': true,
  'subscription-started': true,
  'subscription-changed': true,
  'subscription-ended': true,
  'payment-failed': true,
  'signed-out': true,
  'session-ended': true,
  'identity-linked': true,
  'identity-unlinked': true,
  'password-set': true,
  onboarded: true,
  'organisation-approved': true,
  'organisation-declined': true,
  'decision-undone': true,
  'organisation-suspended': true,
  'organisation-restored': true,
  'account-deleted': true,
  'organisation-created': true,
  'organisation-renamed': true,
  'billing-contact-changed': true,
  'ownership-transferred': true,
  'organisation-deleted': true,
  'person-suspended': true,
  'person-restored': true,
  'operator-granted': true,
  'operator-revoked': true,
  'password-link-made': true,
  'api-key-created': true,
  'api-key-revoked': true,
  'plan-checkout': true,
  'plan-portal': true,
  'plan-cancelled': true,
  'plan-resumed': true,
  'organisation-left': true,
  'invitation-made': true,
  'invitation-withdrawn': true,
  'member-joined': true,
  'member-removed': true,
  'role-changed': true,
  'event-applied-again': true,
  'subscription-synced': true,
  'billing-reconciled': true,
  'customer-started-anew': true,
};

it('has every action in its table', () => {
  // The other changes of a plan are in billing/projection/record-change.test.ts.
  const elsewhere: AuditAction[] = ['subscription-changed', 'subscription-ended', 'payment-failed'];
  const tabled = [...elsewhere, ...table.flatMap(([, , rows]) => rows.map(({ action }) => action))];
  expect([...new Set(tabled)].sort()).toEqual(Object.keys(every).sort());
});
