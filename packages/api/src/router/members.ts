import { changeRole, changeRoleInput } from '../members/change-role.ts';
import {
  leaveInput,
  leaveOrganisation,
  readOwnStarted,
  readStartedBy,
  removeInput,
  removeMember,
  startedByInput,
} from '../members/end-membership.ts';
import {
  invite,
  inviteInput,
  listInvitations,
  revokeInvitation,
  revokeInvitationInput,
} from '../members/invitations.ts';
import { invitationInput, join, openInvitation } from '../members/join.ts';
import { createKey, createKeyInput } from '../members/keys/create-key.ts';
import { listKeys } from '../members/keys/list-keys.ts';
import { revokeKey, revokeKeyInput } from '../members/keys/revoke-key.ts';
import { deleteAccount, deleteAccountInput, readDeletion } from '../members/leaving/delete-account.ts';
import { deleteOrganisation, deleteOrganisationInput } from '../members/leaving/delete-organisation.ts';
import { exportData } from '../members/leaving/export.ts';
import { listMembers, listMembersInput, listMembersOf, membersOfInput } from '../members/list-members.ts';
import { body } from './body.ts';
import {
  anyPrincipalProcedure,
  approvedProcedure,
  awayProcedure,
  calls,
  does,
  freshOrPassword,
  publicProcedure,
  router,
  scopedProcedure,
  userProcedure,
} from './trpc.ts';

export const membersRouter = router({
  /** For the company's services. */
  list: anyPrincipalProcedure('READ').input(body(membersOfInput)).query(calls(listMembersOf)),
  /** For the page of members. */
  search: scopedProcedure('READ').input(body(listMembersInput)).query(calls(listMembers)),
  invitations: scopedProcedure('ADMIN').query(({ ctx }) => listInvitations(ctx.app, ctx.principal)),
  invite: scopedProcedure('ADMIN').input(body(inviteInput)).mutation(calls(invite)),
  withdraw: scopedProcedure('ADMIN').input(body(revokeInvitationInput)).mutation(does(revokeInvitation)),
  invitation: publicProcedure.input(body(invitationInput)).query(calls(openInvitation)),
  /** Open to users whose own organisation awaits approval. */
  join: userProcedure.input(body(invitationInput)).mutation(does(join)),
  changeRole: scopedProcedure('ADMIN')
    .input(body(changeRoleInput))
    .mutation(async ({ ctx, input }) => {
      return { ok: true as const, ended: await changeRole(ctx.app, ctx.principal, input, ctx.client) };
    }),
  remove: scopedProcedure('ADMIN')
    .input(body(removeInput))
    .mutation(async ({ ctx, input }) => {
      return { ok: true as const, ended: await removeMember(ctx.app, ctx.principal, input, ctx.client) };
    }),
  startedBy: scopedProcedure('ADMIN').input(body(startedByInput)).query(calls(readStartedBy)),
  ownStarted: awayProcedure.query(({ ctx }) => readOwnStarted(ctx.app, ctx.principal)),
  leave: awayProcedure.input(body(leaveInput)).mutation(async ({ ctx, input }) => {
    return { ok: true as const, ended: await leaveOrganisation(ctx.app, ctx.principal, input, ctx.client) };
  }),
});

export const keysRouter = router({
  list: scopedProcedure('ADMIN').query(({ ctx }) => listKeys(ctx.app, ctx.principal)),
  create: scopedProcedure('ADMIN').use(freshOrPassword).input(body(createKeyInput)).mutation(calls(createKey)),
  revoke: scopedProcedure('ADMIN').input(body(revokeKeyInput)).mutation(does(revokeKey)),
});

export const leavingRouter = router({
  export: approvedProcedure.query(({ ctx }) => exportData(ctx.app, ctx.principal)),
  deletion: userProcedure.query(({ ctx }) => readDeletion(ctx.app, ctx.principal)),
  deleteAccount: userProcedure
    .use(freshOrPassword)
    .input(body(deleteAccountInput))
    .mutation(async ({ ctx, input }) => {
      await deleteAccount(ctx.app, ctx.principal, input, ctx.client);
      await ctx.session.end();
      return { ok: true as const };
    }),
  deleteOrganisation: scopedProcedure('ADMIN')
    .use(freshOrPassword)
    .input(body(deleteOrganisationInput))
    .mutation(does(deleteOrganisation)),
});
