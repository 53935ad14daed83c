import {
  createManagedLink,
  deleteManagedUser,
  endManagedSessions,
  endUserInput,
  restoreManagedUser,
  suspendManagedUser,
} from '../operators/management/change-user.ts';
import { createUser, createUserInput } from '../operators/management/create-user.ts';
import {
  createInvitationInput,
  createManagedInvitation,
  deleteInvitationInput,
  deleteManagedInvitation,
  listInvitationsInput,
  listManagedInvitations,
} from '../operators/management/invitations.ts';
import {
  addManagedMember,
  addMemberInput,
  changeManagedMember,
  changeMemberInput,
  removeManagedMember,
  removeMemberInput,
} from '../operators/management/members.ts';
import {
  approveManagedOrganisation,
  createManagedOrganisation,
  createManagedOrganisationInput,
  declineManagedInput,
  declineManagedOrganisation,
  deleteManagedOrganisation,
  organisationTargetInput,
  readManagedOrganisation,
  renameManagedInput,
  renameManagedOrganisation,
  restoreManagedOrganisation,
  suspendManagedOrganisation,
} from '../operators/management/organisations.ts';
import {
  endManagedOverride,
  readManagedOverride,
  setManagedOverride,
  setManagedOverrideInput,
} from '../operators/management/override.ts';
import { listManagedUsers, listUsersInput, readManagedUser, userIdInput } from '../operators/management/read-users.ts';
import { body } from './body.ts';
import { calls, managingKeyProcedure, router } from './trpc.ts';

/** What operators do in the console, for the company's own programs. services.md, Management, is the contract. */
export const managementRouter = router({
  users: managingKeyProcedure.input(body(listUsersInput)).query(calls(listManagedUsers)),
  user: managingKeyProcedure.input(body(userIdInput)).query(calls(readManagedUser)),
  createUser: managingKeyProcedure.input(body(createUserInput)).mutation(calls(createUser)),
  suspendUser: managingKeyProcedure.input(body(endUserInput)).mutation(calls(suspendManagedUser)),
  restoreUser: managingKeyProcedure.input(body(userIdInput)).mutation(calls(restoreManagedUser)),
  endSessions: managingKeyProcedure.input(body(userIdInput)).mutation(calls(endManagedSessions)),
  passwordLink: managingKeyProcedure.input(body(userIdInput)).mutation(calls(createManagedLink)),
  deleteUser: managingKeyProcedure.input(body(endUserInput)).mutation(calls(deleteManagedUser)),
  createOrganisation: managingKeyProcedure
    .input(body(createManagedOrganisationInput))
    .mutation(calls(createManagedOrganisation)),
  organisation: managingKeyProcedure.input(body(organisationTargetInput)).query(calls(readManagedOrganisation)),
  renameOrganisation: managingKeyProcedure.input(body(renameManagedInput)).mutation(calls(renameManagedOrganisation)),
  approveOrganisation: managingKeyProcedure
    .input(body(organisationTargetInput))
    .mutation(calls(approveManagedOrganisation)),
  declineOrganisation: managingKeyProcedure
    .input(body(declineManagedInput))
    .mutation(calls(declineManagedOrganisation)),
  suspendOrganisation: managingKeyProcedure
    .input(body(organisationTargetInput))
    .mutation(calls(suspendManagedOrganisation)),
  restoreOrganisation: managingKeyProcedure
    .input(body(organisationTargetInput))
    .mutation(calls(restoreManagedOrganisation)),
  deleteOrganisation: managingKeyProcedure
    .input(body(organisationTargetInput))
    .mutation(calls(deleteManagedOrganisation)),
  addMember: managingKeyProcedure.input(body(addMemberInput)).mutation(calls(addManagedMember)),
  changeMember: managingKeyProcedure.input(body(changeMemberInput)).mutation(calls(changeManagedMember)),
  removeMember: managingKeyProcedure.input(body(removeMemberInput)).mutation(calls(removeManagedMember)),
  invitations: managingKeyProcedure.input(body(listInvitationsInput)).query(calls(listManagedInvitations)),
  invite: managingKeyProcedure.input(body(createInvitationInput)).mutation(calls(createManagedInvitation)),
  deleteInvitation: managingKeyProcedure.input(body(deleteInvitationInput)).mutation(calls(deleteManagedInvitation)),
  override: managingKeyProcedure.input(body(organisationTargetInput)).query(calls(readManagedOverride)),
  setOverride: managingKeyProcedure.input(body(setManagedOverrideInput)).mutation(calls(setManagedOverride)),
  endOverride: managingKeyProcedure.input(body(organisationTargetInput)).mutation(calls(endManagedOverride)),
});
