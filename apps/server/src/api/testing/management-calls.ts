import type { TestApp } from '@gatehouse/api/testing/app';
import { addMember, makeAccount, makeOwner, newEmail } from '@gatehouse/api/testing/factories';
import { makeKey } from '@gatehouse/api/testing/keys';
import { askRest } from './ask-rest.ts';

/** A request of an operation of the OpenAPI document. */
export type Call = {
  path?: Record<string, string>;
  query?: object;
  body?: unknown;
  headers?: Record<string, string>;
};

type Subject = { id: string; user: string; invitation: string };

/** What the operations of management act on. */
type Managed = {
  headers: Record<string, string>;
  /** Users, each with the name of the operation that changes them. */
  users: Record<'read' | 'suspend' | 'restore' | 'endSessions' | 'passwordLink' | 'delete' | 'added', string>;
  /** Organisations in the same way, each with a viewer, an invitation and an override. */
  organisations: Record<
    'read' | 'rename' | 'suspend' | 'restore' | 'delete' | 'add' | 'change' | 'remove' | 'uninvite' | 'set' | 'end',
    Subject
  >;
  /** Organisations that await approval. */
  pending: Record<'approve' | 'decline', string>;
};

/** Creates a key that manages, and subjects for its calls: whatever changes one has a subject of its own. */
export async function makeManaged(test: TestApp): Promise<Managed> {
  const { key } = await makeKey(test, { scope: 'MANAGE', passwordLinks: true });
  const manage = async (method: string, path: string, body: object) => {
    const answer = await askRest(test, method, path, { key, body });
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const user = async () => (await makeAccount(test)).userId;
  const pending = async () => (await makeOwner(test, { approved: false })).organisationId;
  async function organisation(): Promise<Subject> {
    const { organisationId: id } = await makeOwner(test);
    await manage('PUT', `/api/organisations/${id}/override`, { limits: { members: null }, reason: 'By contract.' });
    const { userId } = await addMember(test, id, 'viewer');
    const invitation = await manage('POST', `/api/organisations/${id}/invitations`, invited);
    return { id, user: userId, invitation: invitation.id };
  }

  return {
    headers: { authorization: `Bearer ${key}` },
    users: {
      read: (await makeOwner(test)).userId,
      suspend: await user(),
      restore: await user(),
      endSessions: await user(),
      passwordLink: await user(),
      delete: await user(),
      added: await user(),
    },
    organisations: {
      read: await organisation(),
      rename: await organisation(),
      suspend: await organisation(),
      restore: await organisation(),
      delete: await organisation(),
      add: await organisation(),
      change: await organisation(),
      remove: await organisation(),
      uninvite: await organisation(),
      set: await organisation(),
      end: await organisation(),
    },
    pending: { approve: await pending(), decline: await pending() },
  };
}

const invited = { email: 'mia@larch.example', role: 'viewer' };
const agreed = {
  tier: 'gold',
  limits: { api_calls: 50_000, members: null },
  features: { audit_log: true },
  grace_days: 14,
  reason: 'By contract.',
  until: '2099-12-31',
};

type WithManaged = { managed: Managed };

function ofUser(name: keyof Managed['users'], body?: object) {
  return ({ managed: { headers, users } }: WithManaged): Call => ({ headers, path: { id: users[name] }, body });
}

function ofOrganisation(name: keyof Managed['organisations'], body?: object) {
  return ({ managed: { headers, organisations } }: WithManaged): Call => ({
    headers,
    path: { ...organisations[name] },
    body,
  });
}

function ofPending(name: keyof Managed['pending'], body: object) {
  return ({ managed: { headers, pending } }: WithManaged): Call => ({ headers, path: { id: pending[name] }, body });
}

/** A call of each operation of management that is answered with its success. */
export const managementCalls: Record<string, (world: WithManaged) => Call> = {
  'management.users': ({ managed: { headers } }) => ({ headers }),
  'management.createUser': ({ managed: { headers } }) => ({
    headers,
    body: { email: newEmail(), name: 'Mia', verified: true, organisation: { name: 'Larch' } },
  }),
  'management.user': ofUser('read'),
  'management.deleteUser': ofUser('delete', {}),
  'management.suspendUser': ofUser('suspend', { keep_keys: true }),
  'management.restoreUser': ofUser('restore', {}),
  'management.endSessions': ofUser('endSessions', {}),
  'management.passwordLink': ofUser('passwordLink', {}),
  'management.createOrganisation': ({ managed: { headers, users } }) => ({
    headers,
    body: { name: 'Larch', owner: users.read },
  }),
  'management.organisation': ofOrganisation('read'),
  'management.renameOrganisation': ofOrganisation('rename', { name: 'Larch' }),
  'management.deleteOrganisation': ofOrganisation('delete', {}),
  'management.approveOrganisation': ofPending('approve', {}),
  'management.declineOrganisation': ofPending('decline', { reason: 'Unknown.' }),
  'management.suspendOrganisation': ofOrganisation('suspend', {}),
  'management.restoreOrganisation': ofOrganisation('restore', {}),
  'management.addMember': ({ managed: { headers, users, organisations } }) => ({
    headers,
    path: { id: organisations.add.id },
    body: { user: users.added, role: 'member' },
  }),
  'management.changeMember': ofOrganisation('change', { role: 'admin' }),
  'management.removeMember': ofOrganisation('remove', { keep_keys: true }),
  'management.invitations': ofOrganisation('read'),
  'management.invite': ofOrganisation('add', invited),
  'management.deleteInvitation': ofOrganisation('uninvite', {}),
  'management.override': ofOrganisation('read'),
  'management.setOverride': ofOrganisation('set', agreed),
  'management.endOverride': ofOrganisation('end', {}),
};
