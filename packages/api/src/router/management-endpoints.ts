import { z } from 'zod';
import { endUserInput } from '../operators/management/change-user.ts';
import { createUserInput } from '../operators/management/create-user.ts';
import { createInvitationInput } from '../operators/management/invitations.ts';
import { addMemberInput, changeMemberInput, removeMemberInput } from '../operators/management/members.ts';
import {
  createManagedOrganisationInput,
  declineManagedInput,
  renameManagedInput,
} from '../operators/management/organisations.ts';
import { setManagedOverrideInput } from '../operators/management/override.ts';
import { listUsersInput } from '../operators/management/read-users.ts';
import { keysetInput } from '../platform/security/keyset-pagination.ts';
import type { Endpoint } from './endpoint.ts';

type About = Pick<Endpoint, 'method' | 'path' | 'id' | 'summary' | 'answer'> & Partial<Endpoint>;

function manages(about: About): Endpoint {
  return {
    tag: 'Management',
    access: ['key'],
    scope: 'MANAGE',
    ...(about.method !== 'get' && { body: z.strictObject({}) }),
    errors: ['VALIDATION', 'NOT_FOUND'],
    ...about,
  };
}

const userId = { id: z.string().describe("The user's id.") };
const organisationId = { id: z.string().describe("The organisation's id or slug.") };
const memberIds = z.object({ ...organisationId, user: z.string().describe("The user's id.") });

function ofUser(about: About): Endpoint {
  const inputOfPath = ({ id = '' }: Record<string, string>) => ({ user_id: id });
  return manages({ pathParameters: z.object(userId), inputOfPath, ...about });
}

function ofOrganisation(about: About): Endpoint {
  const inputOfPath = ({ id = '', user, ...others }: Record<string, string>) => ({
    organisation: id,
    ...others,
    ...(user !== undefined && { user_id: user }),
  });
  return manages({ pathParameters: z.object(organisationId), inputOfPath, ...about });
}

const untouched = 'An account of an operator is never touched: FORBIDDEN.';
const inOrganisation = { organisation: true } as const;
const ofMember = { organisation: true, user_id: true } as const;

/** The endpoints for keys with the scope MANAGE, in the order of the OpenAPI document. */
export const managementEndpoints: Endpoint[] = [
  manages({
    method: 'get',
    path: '/api/users',
    id: 'management.users',
    summary: 'List users, or find one by address',
    query: listUsersInput,
    answer: 'Users',
    errors: ['VALIDATION'],
  }),
  manages({
    method: 'post',
    path: '/api/users',
    id: 'management.createUser',
    summary: 'Create a user, with an organisation that awaits approval if one is named',
    description:
      'With `verified` the caller vouches for the address, and no mail leaves; else the usual mail with a link does. The address of a verified account is a CONFLICT, which names its `id`.',
    body: createUserInput,
    status: 201,
    answer: 'User',
    errors: ['CONFLICT'],
  }),
  ofUser({
    method: 'get',
    path: '/api/users/{id}',
    id: 'management.user',
    summary: 'Read a user with their organisations and the connected identity',
    answer: 'UserInDetail',
  }),
  ofUser({
    method: 'delete',
    path: '/api/users/{id}',
    id: 'management.deleteUser',
    summary: 'Delete a user, and the organisations that they own alone',
    description: `CONFLICT where such an organisation has other members or a subscription. The API keys that they made are revoked, unless \`keep_keys\` is true. ${untouched}`,
    body: endUserInput.omit({ user_id: true }),
    answer: 'Done',
    errors: ['NOT_FOUND', 'CONFLICT'],
  }),
  ofUser({
    method: 'post',
    path: '/api/users/{id}/suspend',
    id: 'management.suspendUser',
    summary: 'Suspend a user: their sessions and links end',
    description: `The API keys that they made are revoked, unless \`keep_keys\` is true. ${untouched}`,
    body: endUserInput.omit({ user_id: true }),
    answer: 'User',
  }),
  ofUser({
    method: 'post',
    path: '/api/users/{id}/restore',
    id: 'management.restoreUser',
    summary: "End a user's suspension",
    description: untouched,
    answer: 'User',
  }),
  ofUser({
    method: 'post',
    path: '/api/users/{id}/end-sessions',
    id: 'management.endSessions',
    summary: 'Sign a user out everywhere',
    description: untouched,
    answer: 'User',
  }),
  ofUser({
    method: 'post',
    path: '/api/users/{id}/password-link',
    id: 'management.passwordLink',
    summary: 'Create a link that sets a password once, within 60 minutes',
    description: `Needs a key that the command line made with --password-links. CONFLICT for an unverified or closed account. ${untouched}`,
    status: 201,
    answer: 'PasswordLink',
    errors: ['NOT_FOUND', 'CONFLICT'],
  }),
  manages({
    method: 'post',
    path: '/api/organisations',
    id: 'management.createOrganisation',
    summary: 'Create an organisation that awaits approval, with an owner or none yet',
    body: createManagedOrganisationInput,
    status: 201,
    answer: 'Organisation',
    errors: [],
  }),
  ofOrganisation({
    method: 'get',
    path: '/api/organisations/{id}',
    id: 'management.organisation',
    summary: 'Read an organisation',
    answer: 'Organisation',
  }),
  ofOrganisation({
    method: 'patch',
    path: '/api/organisations/{id}',
    id: 'management.renameOrganisation',
    summary: "Change an organisation's name; its slug stays",
    body: renameManagedInput.omit(inOrganisation),
    answer: 'Organisation',
  }),
  ofOrganisation({
    method: 'delete',
    path: '/api/organisations/{id}',
    id: 'management.deleteOrganisation',
    summary: 'Delete an organisation; its subscriptions end first',
    description: 'FORBIDDEN for an organisation that an operator owns alone.',
    answer: 'Done',
    errors: ['NOT_FOUND', 'BILLING_UNAVAILABLE', 'PROVIDER_UNAVAILABLE'],
  }),
  ofOrganisation({
    method: 'post',
    path: '/api/organisations/{id}/approve',
    id: 'management.approveOrganisation',
    summary: 'Approve an organisation; this ends a decline too',
    description: 'CONFLICT while it is suspended.',
    answer: 'Organisation',
    errors: ['NOT_FOUND', 'CONFLICT'],
  }),
  ofOrganisation({
    method: 'post',
    path: '/api/organisations/{id}/decline',
    id: 'management.declineOrganisation',
    summary: 'Decline an organisation that awaits approval',
    description: 'CONFLICT if it is approved or suspended. FORBIDDEN for an organisation that an operator owns alone.',
    body: declineManagedInput.omit(inOrganisation),
    answer: 'Organisation',
    errors: ['NOT_FOUND', 'CONFLICT'],
  }),
  ofOrganisation({
    method: 'post',
    path: '/api/organisations/{id}/suspend',
    id: 'management.suspendOrganisation',
    summary: "Suspend an organisation: its members' sessions end",
    description: 'FORBIDDEN for an organisation that an operator owns alone.',
    answer: 'Organisation',
  }),
  ofOrganisation({
    method: 'post',
    path: '/api/organisations/{id}/restore',
    id: 'management.restoreOrganisation',
    summary: "End an organisation's suspension",
    description: 'CONFLICT for a declined organisation: approve ends a decline.',
    answer: 'Organisation',
    errors: ['NOT_FOUND', 'CONFLICT'],
  }),
  ofOrganisation({
    method: 'post',
    path: '/api/organisations/{id}/members',
    id: 'management.addMember',
    summary: 'Make a user a member',
    description: `An owner only while there is none. ${untouched}`,
    body: addMemberInput.omit(inOrganisation),
    status: 201,
    answer: 'Membership',
    errors: ['NOT_FOUND', 'CONFLICT', 'LIMIT_REACHED'],
  }),
  ofOrganisation({
    method: 'patch',
    path: '/api/organisations/{id}/members/{user}',
    id: 'management.changeMember',
    summary: "Change a member's role",
    description: `CONFLICT for the last owner. ${untouched}`,
    pathParameters: memberIds,
    body: changeMemberInput.omit(ofMember),
    answer: 'Membership',
    errors: ['NOT_FOUND', 'CONFLICT'],
  }),
  ofOrganisation({
    method: 'delete',
    path: '/api/organisations/{id}/members/{user}',
    id: 'management.removeMember',
    summary: 'Remove a member; the account stays',
    description: `CONFLICT for the last owner. ${untouched}`,
    pathParameters: memberIds,
    body: removeMemberInput.omit(ofMember),
    answer: 'Done',
    errors: ['NOT_FOUND', 'CONFLICT'],
  }),
  ofOrganisation({
    method: 'get',
    path: '/api/organisations/{id}/invitations',
    id: 'management.invitations',
    summary: "List an organisation's unused invitations",
    query: keysetInput,
    answer: 'Invitations',
  }),
  ofOrganisation({
    method: 'post',
    path: '/api/organisations/{id}/invitations',
    id: 'management.invite',
    summary: 'Create an invitation, whose link you hand over',
    description:
      'The address is a note: anyone with the link joins by it, once, within seven days. CONFLICT while the organisation is not approved. It ends when the key is revoked.',
    body: createInvitationInput.omit(inOrganisation),
    status: 201,
    answer: 'Invitation',
    errors: ['NOT_FOUND', 'CONFLICT', 'LIMIT_REACHED'],
  }),
  ofOrganisation({
    method: 'delete',
    path: '/api/organisations/{id}/invitations/{invitation}',
    id: 'management.deleteInvitation',
    summary: 'Delete an unused invitation',
    pathParameters: z.object({ ...organisationId, invitation: z.string().describe("The invitation's id.") }),
    answer: 'Done',
  }),
  ofOrganisation({
    method: 'get',
    path: '/api/organisations/{id}/override',
    id: 'management.override',
    summary: 'Read what was agreed with an organisation beside its subscriptions',
    answer: 'Override',
  }),
  ofOrganisation({
    method: 'put',
    path: '/api/organisations/{id}/override',
    id: 'management.setOverride',
    summary: 'State what was agreed with an organisation; it replaces an earlier override',
    description:
      'It only adds: the higher of its tier and the subscription’s counts, and the higher of each limit. A date alone ends with its day, in UTC.',
    body: setManagedOverrideInput.omit(inOrganisation),
    answer: 'Override',
  }),
  ofOrganisation({
    method: 'delete',
    path: '/api/organisations/{id}/override',
    id: 'management.endOverride',
    summary: 'End what was agreed with an organisation, if anything is',
    answer: 'Done',
  }),
];
