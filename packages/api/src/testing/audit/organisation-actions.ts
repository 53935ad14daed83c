import { callerFor, makeAccount, makeInvitation, makeOwner, testPassword } from '../factories.ts';
import { type AuditCase, type AuditTest, actsOf } from './audit-case.ts';
import { payFor } from './pay-for.ts';

/** What members do in their organisation. */
export function organisationActions(test: AuditTest): AuditCase[] {
  const { owner, afterwards, member } = actsOf(test);

  return [
    [
      'an invitation',
      owner(({ api, organisationId }) => api.members.invite({ organisation_id: organisationId, role: 'member' })),
      'invitation-made by user about organisation from client',
    ],
    [
      'an invitation that is revoked',
      afterwards(makeInvitation, async ({ api }) => {
        const [invitation] = await api.members.invitations();
        await api.members.withdraw({ id: invitation?.id ?? '' });
      }),
      'invitation-withdrawn by user about organisation from client',
    ],
    [
      'an API key',
      owner(({ api, organisationId }) => api.keys.create({ organisation_id: organisationId, name: 'Service' })),
      'api-key-created by user about organisation from client',
    ],
    [
      'an API key that is revoked',
      afterwards(
        ({ api, organisationId }) => api.keys.create({ organisation_id: organisationId, name: 'Service' }),
        ({ api }, { id }) => api.keys.revoke({ id }),
      ),
      'api-key-revoked by user about organisation from client',
    ],
    [
      'a user who joins',
      async (begin) => {
        const token = await makeInvitation(await makeOwner(test));
        const { api, email } = await makeAccount(test);
        await begin(email);
        await api.members.join({ token });
        return email;
      },
      'member-joined by user about user, organisation from client',
      'tells member.joined about user, organisation',
    ],
    [
      'a change of role',
      member(({ api }, ids) => api.members.changeRole({ ...ids, role: 'viewer' })),
      'role-changed by another user about user, organisation from client',
      'tells member.role_changed about user, organisation',
    ],
    [
      'a member who is removed',
      member(({ api }, ids) => api.members.remove(ids)),
      'member-removed by another user about user, organisation from client',
      'tells member.left about user, organisation',
    ],
    [
      'a member who leaves',
      member((_, { organisation_id }, { api }) => api.members.leave({ organisation_id })),
      'organisation-left by user about user, organisation from client',
      'tells member.left about user, organisation',
    ],
    [
      'a new name of an organisation',
      owner(({ api, organisationId }) =>
        api.organisations.rename({ organisation_id: organisationId, name: 'Renamed' }),
      ),
      'organisation-renamed by user about organisation from client',
      'tells organisation.renamed about organisation',
    ],
    [
      'a new billing contact',
      owner(({ api, organisationId }) =>
        api.organisations.changeBillingContact({ organisation_id: organisationId, email: 'bills@company.example' }),
      ),
      'billing-contact-changed by user about organisation from client',
    ],
    ...[true, false].map(
      (required): AuditCase => [
        `a second factor that is required${required ? '' : ' no longer'}`,
        owner(({ principal, organisationId }) =>
          callerFor(test, { ...principal, hasFactor: true }).organisations.requireSecondFactor({
            organisation_id: organisationId,
            from: required ? test.app.now().toISOString().slice(0, 10) : null,
          }),
        ),
        `second-factor-${required ? '' : 'not-'}required by user about organisation from client`,
      ],
    ),
    [
      'a transfer of the ownership',
      member(({ api }, { organisation_id }, { email }) =>
        api.organisations.transfer({ organisation_id, email, password: testPassword }),
      ),
      'ownership-transferred by another user about user, organisation from client',
      'tells member.role_changed about user, organisation',
      'tells member.role_changed about another user, organisation',
    ],
    [
      'an organisation that its owner deletes',
      owner(({ api, organisationId }) =>
        api.leaving.deleteOrganisation({ organisation_id: organisationId, password: testPassword }),
      ),
      'organisation-deleted by user about organisation from client',
      'tells organisation.deleted about organisation',
    ],
    [
      'an organisation that a user without one creates',
      async (begin) => {
        const { api, email } = await makeAccount(test);
        await begin(email);
        await api.organisations.create({ org_name: 'Fresh Start' });
        return email;
      },
      'organisation-created by user about user, organisation from client',
      'tells organisation.created about organisation',
      'tells member.joined about user, organisation',
    ],
  ];
}

/** What administrators do about the plan. */
export function planActions(test: AuditTest): AuditCase[] {
  const { owner, afterwards } = actsOf(test);

  return [
    [
      'a checkout',
      owner(({ api }) => api.billing.checkout({ tier: 'gold' })),
      'plan-checkout by user about organisation',
    ],
    [
      'a chosen currency',
      owner(({ api }) => api.billing.currency({ currency: 'gbp' })),
      'plan-currency by user about organisation',
    ],
    [
      'a plan that starts',
      owner((made) => payFor(test, made)),
      'plan-checkout by user about organisation',
      'subscription-started about organisation',
      'tells plan.changed about organisation',
    ],
    [
      'the portal',
      afterwards(
        (made) => payFor(test, made),
        ({ api }) => api.billing.portal(),
      ),
      'plan-portal by user about organisation',
    ],
    [
      'a cancellation',
      afterwards(
        (made) => payFor(test, made),
        ({ api }) => api.billing.cancel(),
      ),
      'plan-cancelled by user about organisation',
      'tells plan.changed about organisation',
    ],
    [
      'a cancellation that is taken back',
      afterwards(
        async (made) => {
          await payFor(test, made);
          await made.api.billing.cancel();
        },
        ({ api }) => api.billing.resume(),
      ),
      'plan-resumed by user about organisation',
      'tells plan.changed about organisation',
    ],
  ];
}
