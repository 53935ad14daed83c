import { eq, inArray } from 'drizzle-orm';
import { deleteExpired } from '../../auth/delete-expired.ts';
import { matchUser } from '../../auth/sign-in/match-user.ts';
import { approveByDomain } from '../../auth/sign-up/awaiting-approval.ts';
import { keepPassword } from '../../auth/verification/keep-password.ts';
import { verifyEmail } from '../../auth/verification/verify-email.ts';
import { recordJoined } from '../../changes/record-change.ts';
import { eraseDeclined } from '../../members/leaving/erase-declined.ts';
import { closeDemoAccounts, markDemoAccount } from '../../operators/deployment/demo-accounts.ts';
import { signUps, users, verificationLinks } from '../../platform/db/schema/accounts.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { hashToken } from '../../platform/security/token.ts';

import { approveOwner, declineOwner, suspendUser } from '../admin-commands.ts';
import {
  addMember,
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
} from '../factories.ts';
import { type AuditCase, type AuditTest, actsOf } from './audit-case.ts';

/** Ways to change what the feed tells that the cases of the audit log do not take. */
export function toldActions(test: AuditTest): AuditCase[] {
  const { owner, afterwards, anonymous } = actsOf(test);
  const created = [
    'tells organisation.created about organisation',
    'tells member.joined about user, organisation',
  ] as const;

  function openLink(link: { token: string; browserToken: string | null }) {
    return verifyEmail(test.app, link, testClient);
  }

  /** Opens a link as a mail scanner does, and returns the page's offers. */
  async function offersOf({ token }: { token: string }) {
    const outcome = await openLink({ token, browserToken: null });
    return 'offers' in outcome ? outcome.offers : null;
  }

  async function keep({ token, browserToken }: { token: string; browserToken: string }) {
    const again = await openLink({ token, browserToken });
    const keepToken = 'offers' in again ? (again.offers.keepToken ?? '') : '';
    await keepPassword(test.app, { token: keepToken }, browserToken, testClient);
  }

  return [
    [
      'a new name of a user',
      owner(({ api }) => api.accounts.changeName({ name: 'Mia' })),
      'tells user.renamed about user, organisation',
    ],
    [
      'a name that a user had',
      afterwards(
        ({ api }) => api.accounts.changeName({ name: 'Mia' }),
        ({ api }) => api.accounts.changeName({ name: 'Mia' }),
      ),
    ],
    [
      'a name that the identity provider knows',
      afterwards(
        ({ userId, email }) => linkSubject(test, userId, email),
        ({ email }) =>
          test.app.db.transaction((tx) =>
            matchUser(test.app, tx, makeIdentity({ email, subject: email, name: 'Mia' }), testClient),
          ),
      ),
      'tells user.renamed about user, organisation',
    ],
    [
      'an identity of an unverified account',
      async (begin) => {
        const { email } = await makeSignUp(test);
        await begin();
        const identity = makeIdentity({ email, name: 'Mia' });
        await test.app.db.transaction((tx) => matchUser(test.app, tx, identity, testClient));
        return email;
      },
      'identity-linked about user, organisation from client',
      ...created,
    ],
    [
      'an identity of an unverified account, by an invitation',
      async (begin) => {
        const { email } = await makeSignUp(test);
        await begin();
        const invited = { invited: true };
        await test.app.db.transaction((tx) => matchUser(test.app, tx, makeIdentity({ email }), testClient, invited));
        return email;
      },
      'identity-linked about user from client',
    ],
    [
      'a link in the browser that signed up, of an approved domain',
      async (begin) => {
        const link = await makeSignUp(test, { email: newEmail().replace('company', 'approved') });
        await begin();
        await openLink(link);
        return link.email;
      },
      'address-verified about user, organisation from client',
      'organisation-approved about organisation from client',
      ...created,
      'tells organisation.approved about organisation',
    ],
    [
      'a link of an owner who was approved before',
      async (begin) => {
        const link = await makeSignUp(test);
        await begin();
        await approveOwner(test.app, link.email);
        await openLink(link);
        return link.email;
      },
      'address-verified about user, organisation from client',
      'organisation-approved about organisation',
      ...created,
      'tells organisation.approved about organisation',
    ],
    [
      'an approval by the button on the page of a link',
      async (begin) => {
        const link = await makeSignUp(test, { email: newEmail().replace('company', 'approved') });
        const offers = await offersOf(link);
        await begin();
        await approveByDomain(test.app, { token: offers?.approvalToken ?? '' }, testClient);
        return link.email;
      },
      'organisation-approved about organisation from client',
      'tells organisation.approved about organisation',
    ],
    [
      'a name typed on the page of a link',
      async (begin) => {
        const link = await makeSignUp(test);
        const offers = await offersOf(link);
        await begin();
        const token = offers?.password?.token ?? '';
        await anonymous().accounts.setPassword({ token, password: testPassword, org_name: 'Fresh Start' });
        return link.email;
      },
      'password-set about user from client',
      'tells organisation.renamed about organisation',
    ],
    [
      'a password and a name kept from the sign-up',
      async (begin) => {
        const link = await makeSignUp(test);
        await offersOf(link);
        await begin();
        await keep(link);
        return link.email;
      },
      'password-set about user from client',
      'tells organisation.renamed about organisation',
    ],
    [
      'a password kept from a sign-up by invitation',
      async (begin) => {
        const invitation = await makeInvitation(await makeOwner(test));
        const link = await makeSignUp(test, { invitation });
        const { email } = link;
        // The link in another browser creates what this sign-up wants.
        await anonymous().accounts.signUp({ email, password: testPassword });
        await offersOf(link);
        await begin(email);
        await keep(link);
        return email;
      },
      'password-set about user from client',
      'tells organisation.deleted about organisation',
    ],
    [
      'a change of address that ends an unverified account',
      async (begin) => {
        const { userId } = await makeOwner(test);
        const { email } = await makeSignUp(test);
        // Its link can no longer be opened, so that the address may be taken.
        const ended = { createdAt: new Date(Date.now() - dayMilliseconds), expiresAt: new Date() };
        await test.app.db.update(verificationLinks).set(ended).where(eq(verificationLinks.email, email));
        await test.app.db
          .update(signUps)
          .set({ createdAt: ended.createdAt })
          .where(
            inArray(signUps.userId, test.app.db.select({ id: users.id }).from(users).where(eq(users.email, email))),
          );
        const tokenHash = hashToken('address');
        const now = new Date();
        const times = { createdAt: now, sentAt: now, expiresAt: new Date(now.getTime() + dayMilliseconds) };
        const link = { tokenHash, userId, email, purpose: 'change-address' as const, ...times };
        await test.app.db.insert(verificationLinks).values(link);
        await begin();
        const outcome = await openLink({ token: 'address', browserToken: null });
        await anonymous().accounts.confirmChange({
          token: 'changeToken' in outcome ? outcome.changeToken : '',
          password: testPassword,
        });
        return email;
      },
      'address-changed by user about user from client',
      'tells user.email_changed about user, organisation',
    ],
    [
      'an approval of a user who was invited and joined nothing',
      async (begin) => {
        const { email, userId } = await makeAccount(test);
        await test.app.db.update(users).set({ invitedOnly: true }).where(eq(users.id, userId));
        await begin();
        await test.operator.api.operators.approve({ organisation_ids: [userId] });
        return email;
      },
      'organisation-approved by operator about organisation from client',
      ...created,
      'tells organisation.approved about organisation',
    ],
    [
      'a decline that is undone',
      afterwards(
        ({ email }) => declineOwner(test.app, email, 'Not a customer.'),
        async ({ organisationId: organisation_id }) => {
          const { declined_at } = await test.operator.api.operators.organisation({ organisation_id });
          return test.operator.api.operators.undoDecision({ organisation_id, decided_at: declined_at ?? '' });
        },
        { approved: false },
      ),
      'decision-undone by operator about organisation from client',
    ],
    [
      'a suspended user of two organisations',
      async (begin) => {
        const user = await makeOwner(test);
        const other = await makeOwner(test);
        await user.api.members.join({ token: await makeInvitation(other) });
        await signInAs(test, user.email);
        await begin(user.email);
        await suspendUser(test.app, user.email);
        return user.email;
      },
      'person-suspended about user',
      'tells user.suspended about user, another organisation',
      'tells user.suspended about user, organisation',
    ],
    [
      'a suspended user without an organisation',
      async (begin) => {
        const { email } = await makeAccount(test);
        await begin();
        await suspendUser(test.app, email);
        return email;
      },
      'person-suspended about user',
      'tells user.suspended about user',
    ],
    [
      'a suspended user whose address is unverified',
      async (begin) => {
        const { email } = await makeSignUp(test);
        await begin();
        await suspendUser(test.app, email);
        return email;
      },
      'person-suspended about user',
    ],
    [
      'demo accounts that are closed',
      async (begin) => {
        const { userId, email } = await makeOwner(test);
        await markDemoAccount(test.app, { userId });
        await begin();
        await closeDemoAccounts(test.app);
        return email;
      },
      'person-suspended about user',
      'tells user.suspended about user, organisation',
    ],
    [
      'a member whose account is deleted',
      async (begin) => {
        const { organisationId } = await makeOwner(test);
        const { email, api } = await addMember(test, organisationId, 'member');
        await begin(email);
        await api.leaving.deleteAccount({});
        return email;
      },
      'account-deleted by user about user',
      'tells user.deleted about user, organisation',
      'tells member.left about user, organisation',
    ],
    [
      'accounts that nobody verified in time',
      async (begin) => {
        const { email } = await makeSignUp(test);
        const createdAt = new Date(Date.now() - 8 * dayMilliseconds);
        await test.app.db.update(users).set({ createdAt }).where(eq(users.email, email));
        await begin();
        await deleteExpired({ ...test.app, now: () => new Date(Date.now() + 2 * dayMilliseconds) });
        return email;
      },
    ],
    [
      'a declined request that is no longer kept',
      async (begin) => {
        const { email, organisationId } = await makeOwner(test, { approved: false });
        await declineOwner(test.app, email, 'Not a customer.');
        const declinedAt = new Date(Date.now() - 500 * dayMilliseconds);
        await test.app.db.update(organisations).set({ declinedAt }).where(eq(organisations.id, organisationId));
        await begin(email);
        await eraseDeclined(test.app);
        return email;
      },
      'account-deleted about user',
      'organisation-deleted about organisation',
      'tells user.deleted about user, organisation',
      'tells member.left about user, organisation',
      'tells organisation.deleted about organisation',
    ],
    [
      'a declined request of a user who belongs to another organisation',
      async (begin) => {
        const { email, userId, organisationId } = await makeOwner(test, { approved: false });
        const { organisationId: other } = await makeOwner(test);
        await test.app.db.transaction(async (tx) => {
          await tx.insert(memberships).values({ userId, organisationId: other, role: 'member', createdAt: new Date() });
          await recordJoined(tx, new Date(), { userId, organisationId: other });
        });
        await test.operator.api.operators.decline({ organisation_ids: [organisationId] });
        const declinedAt = new Date(Date.now() - 500 * dayMilliseconds);
        await test.app.db.update(organisations).set({ declinedAt }).where(eq(organisations.id, organisationId));
        await begin();
        await eraseDeclined(test.app);
        return email;
      },
      'organisation-deleted about another organisation',
      'tells organisation.deleted about another organisation',
    ],
  ];
}

/**
 * The files that write rows of which the feed tells something, each with its cases, or why nothing that they write is
 * told. A file that is missing here fails the test.
 */
export const writers: Record<string, string[] | string> = {
  'auth/delete-expired.ts: users': ['accounts that nobody verified in time'],
  'auth/factors/passkeys.ts: users': 'The feed tells no factors.',
  'auth/factors/review.ts: users': 'The feed tells no factors.',
  'auth/factors/who-must.ts: users': 'The feed tells no factors.',
  'auth/password/change-password.ts: users': 'The feed tells no passwords.',
  'auth/password/imported-passwords.ts: users': 'The feed tells no passwords.',
  'auth/password/set-password.ts: users': 'The feed tells no passwords.',
  // The feed does not tell when a user was introduced.
  'auth/profile/profile.ts: users': ['a new name of a user', 'a name that a user had'],
  'auth/sessions/current-organisation.ts: users': 'The feed does not tell what a session acts for.',
  'auth/sessions/session.ts: memberships': 'The feed does not tell when a member was last seen.',
  'auth/sign-in/match-user.ts: users': [
    'an unknown identity',
    'an identity of an unverified account',
    'an identity of an unverified account, by an invitation',
    'a name that the identity provider knows',
  ],
  'auth/sign-up/pending-sign-up.ts: organisations': ['a password kept from a sign-up by invitation'],
  'auth/sign-up/pending-sign-up.ts: users': 'The feed does not tell how a user signed up.',
  'auth/sign-up/sign-up.ts: users': ['a sign-up'],
  'auth/verification/change-address.ts: users': [
    'a change of address',
    'a change of address that ends an unverified account',
  ],
  'auth/verification/verify-email.ts: users': [
    'a verification link that is opened',
    'a link in the browser that signed up, of an approved domain',
    'a link of an owner who was approved before',
  ],
  'billing/customers/contact.ts: organisations': 'The feed tells no billing contact.',
  'members/change-role.ts: memberships': ['a change of role'],
  'members/change-settings.ts: organisations': ['a new name of an organisation', 'a new billing contact'],
  'members/create-organisation.ts: users': ['an organisation that a user without one creates'],
  'members/end-membership.ts: memberships': ['a member who is removed', 'a member who leaves'],
  'members/join.ts: memberships': ['a user who joins'],
  'members/join.ts: users': ['a user who joins'],
  'members/leaving/delete-organisation.ts: organisations': [
    'an organisation that its owner deletes',
    'an account that is deleted',
    'a declined request of a user who belongs to another organisation',
  ],
  'members/leaving/erase-user.ts: users': [
    'an account that is deleted',
    'a member whose account is deleted',
    'a declined request that is no longer kept',
  ],
  'members/leaving/erase-traces.ts: organisations': 'The feed tells no billing contact.',
  'members/require-second-factor.ts: organisations': 'The feed tells no factors.',
  'members/transfer-ownership.ts: memberships': ['a transfer of the ownership'],
  'operators/management/create-user.ts: users': ['a user whom an API key creates'],
  'operators/queue/decide.ts: users': ['an approval of a user who was invited and joined nothing'],
  'operators/deployment/demo-accounts.ts: users': ['demo accounts that are closed'],
  'operators/import/store-organisations.ts: memberships': ['an import of a user and their organisation by command'],
  'operators/import/store-organisations.ts: users': 'The feed does not tell how a user signed up.',
  'operators/import/store-users.ts: memberships': ['a take-over of an unverified account by an import'],
  'operators/import/store-users.ts: users': ['a take-over of an unverified account by an import'],
  'operators/grant-operator.ts: users': ['an operator granted by command', 'an operator revoked by command'],
  'operators/organisations/suspend-organisation.ts: organisations': [
    'an organisation suspended in the console',
    'an organisation restored in the console',
  ],
  'operators/queue/decided.ts: organisations': ['a decision undone in the console', 'a decline that is undone'],
  'operators/users/reset-second-factor.ts: users': 'The feed tells no factors.',
  'operators/users/suspend-user.ts: users': [
    'a user suspended in the console',
    'a user restored in the console',
    'a suspended user of two organisations',
    'a suspended user without an organisation',
    'a suspended user whose address is unverified',
  ],
  'organisations/approve.ts: organisations': [
    'an approval in the console',
    'a decline in the console',
    'an approval by the button on the page of a link',
  ],
  'organisations/organisation.ts: memberships': ['a sign-up', 'an organisation that a user without one creates'],
  'organisations/organisation.ts: users': ['a member whom an API key adds'],
  'organisations/organisation.ts: organisations': [
    'a sign-up',
    'an organisation that a user without one creates',
    'accounts that nobody verified in time',
    'a name typed on the page of a link',
    'a password and a name kept from the sign-up',
  ],
};
