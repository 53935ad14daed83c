import { suspendUser } from '../admin-commands.ts';
import { makeAccount, makeOwner, makeSignUp } from '../factories.ts';
import { makeKey } from '../keys.ts';
import { type AuditCase, type AuditTest, actsOf } from './audit-case.ts';

/** What API keys with the scope MANAGE do. Their maker, the actor of an entry, is null: the command line made them. */
export function managementActions(test: AuditTest): AuditCase[] {
  const { owner } = actsOf(test);
  const byKey = async () => (await makeKey(test, { scope: 'MANAGE' })).api.management;

  return [
    [
      'a user whom an API key creates',
      async (begin) => {
        await begin();
        const email = 'made-by-a-key@larch.example';
        await (await byKey()).createUser({ email, verified: true, organisation: { name: 'Larch' } });
        return email;
      },
      'api-key-created',
      'person-created about user, organisation from client',
      'tells organisation.created about organisation',
      'tells member.joined about user, organisation',
    ],
    [
      'a member whom an API key adds',
      async (begin) => {
        const key = await byKey();
        const { organisationId } = await makeOwner(test);
        const { userId, email } = await makeAccount(test);
        await begin();
        await key.addMember({ organisation: organisationId, user: userId, role: 'viewer' });
        return email;
      },
      'member-added about user, organisation from client',
      'tells member.joined about user, organisation',
    ],
    [
      'a suspended member whom an API key adds',
      async (begin) => {
        const key = await byKey();
        const { organisationId } = await makeOwner(test);
        const { userId, email } = await makeAccount(test);
        await key.suspendUser({ user_id: userId });
        await begin();
        await key.addMember({ organisation: organisationId, user: userId, role: 'viewer' });
        return email;
      },
      'member-added about user, organisation from client',
      'tells member.joined about user, organisation',
      'tells user.suspended about user, organisation',
    ],
    [
      'a suspended account that nobody verified, which an API key takes over',
      async (begin) => {
        const key = await byKey();
        const { email } = await makeSignUp(test);
        await suspendUser(test.app, email);
        await begin();
        await key.createUser({ email, verified: true, organisation: { name: 'Larch' } });
        return email;
      },
      'person-created about user, organisation from client',
      'tells organisation.created about organisation',
      'tells member.joined about user, organisation',
      'tells user.suspended about user, organisation',
    ],
    [
      'a suspension by an API key',
      owner(async ({ userId }) => (await byKey()).suspendUser({ user_id: userId })),
      'api-key-created',
      'person-suspended about user from client',
      'tells user.suspended about user, organisation',
    ],
    [
      'an organisation that an API key creates',
      async (begin) => {
        const key = await byKey();
        const { userId, email } = await makeAccount(test);
        await begin();
        await key.createOrganisation({ name: 'Larch', owner: userId });
        return email;
      },
      'organisation-created about user, organisation from client',
      'tells organisation.created about organisation',
      'tells member.joined about user, organisation',
    ],
    [
      'an organisation that an API key deletes',
      owner(async ({ organisationId }) => (await byKey()).deleteOrganisation({ organisation: organisationId })),
      'api-key-created',
      'organisation-deleted about organisation from client',
      'tells organisation.deleted about organisation',
    ],
  ];
}
