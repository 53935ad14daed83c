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
import { body, managingKeyProcedure, router } from './trpc.ts';

/** What operators do in the console, for the company's own programs. services.md, Management, is the contract. */
export const managementRouter = router({
  users: managingKeyProcedure
    .input(body(listUsersInput))
    .query(({ ctx, input }) => listManagedUsers(ctx.app, ctx.principal, input)),
  user: managingKeyProcedure
    .input(body(userIdInput))
    .query(({ ctx, input }) => readManagedUser(ctx.app, ctx.principal, input)),
  createUser: managingKeyProcedure
    .input(body(createUserInput))
    .mutation(({ ctx, input }) => createUser(ctx.app, ctx.principal, input, ctx.client)),
  suspendUser: managingKeyProcedure
    .input(body(endUserInput))
    .mutation(({ ctx, input }) => suspendManagedUser(ctx.app, ctx.principal, input, ctx.client)),
  restoreUser: managingKeyProcedure
    .input(body(userIdInput))
    .mutation(({ ctx, input }) => restoreManagedUser(ctx.app, ctx.principal, input, ctx.client)),
  endSessions: managingKeyProcedure
    .input(body(userIdInput))
    .mutation(({ ctx, input }) => endManagedSessions(ctx.app, ctx.principal, input, ctx.client)),
  passwordLink: managingKeyProcedure
    .input(body(userIdInput))
    .mutation(({ ctx, input }) => createManagedLink(ctx.app, ctx.principal, input, ctx.client)),
  deleteUser: managingKeyProcedure
    .input(body(endUserInput))
    .mutation(({ ctx, input }) => deleteManagedUser(ctx.app, ctx.principal, input, ctx.client)),
  createOrganisation: managingKeyProcedure
    .input(body(createManagedOrganisationInput))
    .mutation(({ ctx, input }) => createManagedOrganisation(ctx.app, ctx.principal, input, ctx.client)),
  organisation: managingKeyProcedure
    .input(body(organisationTargetInput))
    .query(({ ctx, input }) => readManagedOrganisation(ctx.app, ctx.principal, input)),
  renameOrganisation: managingKeyProcedure
    .input(body(renameManagedInput))
    .mutation(({ ctx, input }) => renameManagedOrganisation(ctx.app, ctx.principal, input, ctx.client)),
  approveOrganisation: managingKeyProcedure
    .input(body(organisationTargetInput))
    .mutation(({ ctx, input }) => approveManagedOrganisation(ctx.app, ctx.principal, input, ctx.client)),
  declineOrganisation: managingKeyProcedure
    .input(body(declineManagedInput))
    .mutation(({ ctx, input }) => declineManagedOrganisation(ctx.app, ctx.principal, input, ctx.client)),
  suspendOrganisation: managingKeyProcedure
    .input(body(organisationTargetInput))
    .mutation(({ ctx, input }) => suspendManagedOrganisation(ctx.app, ctx.principal, input, ctx.client)),
  restoreOrganisation: managingKeyProcedure
    .input(body(organisationTargetInput))
    .mutation(({ ctx, input }) => restoreManagedOrganisation(ctx.app, ctx.principal, input, ctx.client)),
  deleteOrganisation: managingKeyProcedure
    .input(body(organisationTargetInput))
    .mutation(({ ctx, input }) => deleteManagedOrganisation(ctx.app, ctx.principal, input, ctx.client)),
  addMember: managingKeyProcedure
    .input(body(addMemberInput))
    .mutation(({ ctx, input }) => addManagedMember(ctx.app, ctx.principal, input, ctx.client)),
  changeMember: managingKeyProcedure
    .input(body(changeMemberInput))
    .mutation(({ ctx, input }) => changeManagedMember(ctx.app, ctx.principal, input, ctx.client)),
  removeMember: managingKeyProcedure
    .input(body(removeMemberInput))
    .mutation(({ ctx, input }) => removeManagedMember(ctx.app, ctx.principal, input, ctx.client)),
  invitations: managingKeyProcedure
    .input(body(listInvitationsInput))
    .query(({ ctx, input }) => listManagedInvitations(ctx.app, ctx.principal, input)),
  invite: managingKeyProcedure
    .input(body(createInvitationInput))
    .mutation(({ ctx, input }) => createManagedInvitation(ctx.app, ctx.principal, input, ctx.client)),
  deleteInvitation: managingKeyProcedure
    .input(body(deleteInvitationInput))
    .mutation(({ ctx, input }) => deleteManagedInvitation(ctx.app, ctx.principal, input, ctx.client)),
  override: managingKeyProcedure
    .input(body(organisationTargetInput))
    .query(({ ctx, input }) => readManagedOverride(ctx.app, ctx.principal, input)),
  setOverride: managingKeyProcedure
    .input(body(setManagedOverrideInput))
    .mutation(({ ctx, input }) => setManagedOverride(ctx.app, ctx.principal, input, ctx.client)),
  endOverride: managingKeyProcedure
    .input(body(organisationTargetInput))
    .mutation(({ ctx, input }) => endManagedOverride(ctx.app, ctx.principal, input, ctx.client)),
});
