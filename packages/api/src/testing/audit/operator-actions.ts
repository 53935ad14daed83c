import { requirePayment } from '../../billing/actions/require-payment.ts';
import { correctUsage } from '../../billing/usage/correct-usage.ts';
import { commandLine } from '../../operators/actor.ts';
import { afterRestore } from '../../operators/deployment/after-restore.ts';
import { exportUsers } from '../../operators/import/export-users.ts';
import { importUsers } from '../../operators/import/import-users.ts';
import { linkCustomer } from '../../operators/link-customer.ts';
import { endOverride, setOverride } from '../../operators/organisations/override.ts';
import { replaceCustomer } from '../../operators/replace-customer.ts';
import { eraseOnRequest, exportOnRequest } from '../../operators/users/data-requests.ts';
import { resetSecondFactor } from '../../operators/users/reset-second-factor.ts';
import { endSessions } from '../../operators/users/suspend-user.ts';
import {
  approveOwner,
  createPasswordLink,
  declineOwner,
  grantOperator,
  restoreOrganisation,
  restoreUser,
  revokeOperator,
  suspendOrganisation,
  suspendUser,
} from '../admin-commands.ts';
import { ownedBy } from '../billing.ts';
import { callerFor, makeSignUp, newEmail } from '../factories.ts';
import { addTotp } from '../factors.ts';
import { type AuditCase, type AuditTest, actsOf, type Owner } from './audit-case.ts';
import { payFor } from './pay-for.ts';

const reason = 'Not a customer.';
const goldByContract = { tier: 'gold', reason: 'By contract.' };

/** What operators do in the operator console. */
export function consoleActions(test: AuditTest): AuditCase[] {
  const { owner, afterwards } = actsOf(test);
  const operators = () => test.operator.api.operators;

  return [
    [
      'an approval in the console',
      owner(({ organisationId }) => operators().approve({ organisation_ids: [organisationId] }), { approved: false }),
      'organisation-approved by operator about organisation from client',
      'tells organisation.approved about organisation',
    ],
    [
      'an approval of an approved organisation',
      owner(({ organisationId }) => operators().approve({ organisation_ids: [organisationId] })),
    ],
    [
      'a decline in the console',
      owner(({ organisationId }) => operators().decline({ organisation_ids: [organisationId] }), { approved: false }),
      'organisation-declined by operator about organisation from client',
      'tells organisation.declined about organisation',
    ],
    [
      'a decision undone in the console',
      owner(async ({ organisationId: organisation_id }) => {
        const { approved_at } = await operators().organisation({ organisation_id });
        return operators().undoDecision({ organisation_id, decided_at: approved_at ?? '' });
      }),
      'decision-undone by operator about organisation from client',
      'tells organisation.suspended about organisation',
    ],
    [
      'an organisation suspended in the console',
      owner(({ organisationId }) => operators().suspendOrganisation({ organisation_id: organisationId })),
      'organisation-suspended by operator about organisation from client',
      'tells organisation.suspended about organisation',
    ],
    [
      'an organisation restored in the console',
      afterwards(
        ({ organisationId }) => operators().suspendOrganisation({ organisation_id: organisationId }),
        async ({ organisationId: organisation_id }) => {
          const { suspended_at } = await operators().organisation({ organisation_id });
          return operators().restoreOrganisation({ organisation_id, suspended_at: suspended_at ?? '' });
        },
      ),
      'organisation-restored by operator about organisation from client',
      'tells organisation.restored about organisation',
    ],
    [
      'an override set in the console',
      owner(({ organisationId }) => operators().setOverride({ organisation_id: organisationId, ...goldByContract })),
      'override-set by operator about organisation from client',
      'tells plan.changed about organisation',
    ],
    [
      'an override ended in the console',
      afterwards(
        ({ organisationId }) => operators().setOverride({ organisation_id: organisationId, ...goldByContract }),
        ({ organisationId }) => operators().endOverride({ organisation_id: organisationId }),
      ),
      'override-ended by operator about organisation from client',
      'tells plan.changed about organisation',
    ],
    [
      'a user suspended in the console',
      owner(({ userId }) => operators().suspend({ user_id: userId })),
      'person-suspended by operator about user from client',
      'tells user.suspended about user, organisation',
    ],
    [
      'a user restored in the console',
      afterwards(
        ({ userId }) => operators().suspend({ user_id: userId }),
        async ({ userId: user_id }) => {
          const { suspended_at } = await operators().person({ user_id });
          return operators().restore({ user_id, suspended_at: suspended_at ?? '' });
        },
      ),
      'person-restored by operator about user from client',
      'tells user.restored about user, organisation',
    ],
    [
      'a password link made in the console',
      owner(({ userId }) => operators().passwordLink({ user_id: userId })),
      'password-link-made by operator about user from client',
    ],
    [
      'a second factor reset in the console',
      afterwards(
        ({ api }) => addTotp(test, api),
        ({ userId }) => {
          const { principal } = test.operator;
          const freshUntil = new Date(test.app.now().getTime() + 60_000);
          const byFactor = { ...principal, hasFactor: true, freshByFactor: true, freshUntil };
          return callerFor(test, byFactor).operators.resetSecondFactor({ user_id: userId });
        },
      ),
      'second-factor-reset by operator about user from client',
    ],
    [
      'all subscriptions compared in the console',
      owner(() => operators().compareNow()),
      'billing-reconciled by operator from client',
    ],
    [
      'an API key of the deployment',
      owner(() => operators().createKey({ name: 'Service' })),
      'api-key-created by operator from client',
    ],
    [
      'a subscription synced in the console',
      afterwards(
        (made) => payFor(test, made),
        (_, { subscriptionId }) => operators().syncNow({ subscription_id: subscriptionId }),
      ),
      'subscription-synced by operator about organisation from client',
    ],
  ];
}

/** What operators do by admin commands. */
export function commandActions(test: AuditTest): AuditCase[] {
  const { owner, afterwards } = actsOf(test);

  return [
    [
      'an approval by command',
      owner(({ email }) => approveOwner(test.app, email), { approved: false }),
      'organisation-approved about organisation',
      'tells organisation.approved about organisation',
    ],
    [
      'an approval by command of a declined organisation',
      afterwards(
        ({ email }) => declineOwner(test.app, email, reason),
        ({ email }) => approveOwner(test.app, email),
        { approved: false },
      ),
      'organisation-approved about organisation',
      'tells organisation.approved about organisation',
    ],
    [
      'a decline by command',
      owner(({ email }) => declineOwner(test.app, email, reason), { approved: false }),
      'organisation-declined about organisation',
      'tells organisation.declined about organisation',
    ],
    [
      'an operator granted by command',
      owner(({ email }) => grantOperator(test.app, email), { approved: false }),
      'operator-granted about user',
      'organisation-approved about organisation',
      'tells organisation.approved about organisation',
    ],
    [
      'an operator revoked by command',
      owner(({ email }) => revokeOperator(test.app, email), { operator: true }),
      'operator-revoked about user',
    ],
    [
      'a user suspended by command',
      owner(({ email }) => suspendUser(test.app, email)),
      'person-suspended about user',
      'tells user.suspended about user, organisation',
    ],
    [
      'a user restored by command',
      afterwards(
        ({ email }) => suspendUser(test.app, email),
        ({ email }) => restoreUser(test.app, email),
      ),
      'person-restored about user',
      'tells user.restored about user, organisation',
    ],
    [
      'a password link made by command',
      owner(({ email }) => createPasswordLink(test.app, email)),
      'password-link-made about user',
    ],
    [
      'sessions ended by command',
      owner(({ userId }) => endSessions(test.app, { userId }, commandLine)),
      'sessions-ended about user',
    ],
    [
      'second factors reset by command',
      afterwards(
        ({ api }) => addTotp(test, api),
        ({ userId }) => resetSecondFactor(test.app, { userId }, commandLine),
      ),
      'second-factor-reset about user',
    ],
    ['all sessions ended by command', owner(() => endSessions(test.app, {}, commandLine)), 'sessions-ended'],
    [
      'an export by command',
      owner(({ userId }) => exportOnRequest(test.app, { userId }, commandLine)),
      'data-exported about user',
    ],
    [
      'a user erased by command',
      owner(({ userId }) => eraseOnRequest(test.app, { userId }, commandLine)),
      'account-deleted about user',
      'organisation-deleted about organisation',
      'tells user.deleted about user, organisation',
      'tells member.left about user, organisation',
      'tells organisation.deleted about organisation',
    ],
    ['the command after a restored backup', owner(() => afterRestore(test.app, commandLine)), 'backup-restored'],
    [
      'usage corrected by command',
      owner(({ organisationId }) =>
        correctUsage(test.app, { organisationId, meter: 'projects', used: 1, reason: 'Counted twice.' }, commandLine),
      ),
      'usage-corrected about organisation',
    ],
    [
      'an override set by command',
      owner(({ organisationId }) => setOverride(test.app, { organisationId, ...goldByContract }, commandLine)),
      'override-set about organisation',
      'tells plan.changed about organisation',
    ],
    [
      'an override ended by command',
      afterwards(
        ({ organisationId }) => setOverride(test.app, { organisationId, ...goldByContract }, commandLine),
        ({ organisationId }) => endOverride(test.app, { organisationId }, commandLine),
      ),
      'override-ended about organisation',
      'tells plan.changed about organisation',
    ],
    [
      'an end of no override by command',
      owner(({ organisationId }) => endOverride(test.app, { organisationId }, commandLine)),
    ],
    [
      'an organisation suspended by command',
      owner((made) => suspendOrganisation(test.app, slugOf(made))),
      'organisation-suspended about organisation',
      'tells organisation.suspended about organisation',
    ],
    [
      'an organisation restored by command',
      afterwards(
        (made) => suspendOrganisation(test.app, slugOf(made)),
        (made) => restoreOrganisation(test.app, slugOf(made)),
      ),
      'organisation-restored about organisation',
      'tells organisation.restored about organisation',
    ],
    [
      'an import of a user and their organisation by command',
      async (begin) => {
        await begin();
        const email = newEmail();
        const members = [{ email, role: 'owner' }];
        await importObjects(test, [
          { type: 'user', email, verified: true },
          { type: 'organisation', name: 'Imported Ltd', approval: 'approved', members },
        ]);
        return email;
      },
      'organisation-imported about organisation',
      'user-imported about user',
      'tells organisation.created about organisation',
      'tells member.joined about user, organisation',
      'tells organisation.approved about organisation',
    ],
    [
      'a take-over of an unverified account by an import',
      async (begin) => {
        const { email } = await makeSignUp(test);
        await begin();
        await importObjects(test, [{ type: 'user', email, verified: true }]);
        return email;
      },
      'user-imported about user',
    ],
    [
      'an export of all users by command',
      owner(async () => {
        const exporting = exportUsers(test.app, commandLine);
        while (!(await exporting.next()).done);
      }),
      'users-exported',
    ],
    [
      'a customer who was there before linked by command',
      owner(async ({ organisationId }) => {
        const customer = await requirePayment(test.app).ask((provider) =>
          provider.customers.create({ name: 'Earlier' }),
        );
        const customerId = customer.id;
        await linkCustomer(test.app, { organisationId, customerId }, commandLine);
      }),
      'customer-linked about organisation',
    ],
    [
      'a new customer for an organisation whose customer the provider does not know',
      afterwards(
        async ({ api, principal }) => {
          await api.billing.portal();
          for (const { id } of ownedBy(test, principal).customers) delete test.sandbox.payment.state().customers[id];
        },
        ({ organisationId }) => replaceCustomer(test.app, { organisationId }),
      ),
      'customer-started-anew about organisation',
    ],
  ];
}

async function importObjects({ app }: AuditTest, objects: object[]): Promise<void> {
  async function* lines() {
    for (const each of objects) yield JSON.stringify(each);
  }
  const importing = importUsers(app, lines(), { dryRun: false, actor: commandLine });
  while (!(await importing.next()).done);
}

function slugOf({ principal }: Owner): string {
  return principal.organisation?.slug ?? '';
}
