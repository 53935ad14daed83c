import { changeRole, changeRoleInput } from '../members/change-role.ts';
import { leaveInput, leaveOrganisation, removeInput, removeMember } from '../members/end-membership.ts';
import { invite, inviteInput, listInvitations, withdrawInput, withdrawInvitation } from '../members/invitations.ts';
import { invitationInput, join, openInvitation } from '../members/join.ts';
import { listMembers, listMembersInput } from '../members/list.ts';
import { anyone, body, forPrincipal, router, scoped } from './trpc.ts';

export const membersRouter = router({
  list: scoped('READ')
    .input(body(listMembersInput))
    .query(({ ctx, input }) => listMembers(ctx.app, ctx.principal, input)),
  invitations: scoped('ADMIN').query(({ ctx }) => listInvitations(ctx.app, ctx.principal)),
  invite: scoped('ADMIN')
    .input(body(inviteInput))
    .mutation(({ ctx, input }) => invite(ctx.app, ctx.principal, input, ctx.client)),
  withdraw: scoped('ADMIN')
    .input(body(withdrawInput))
    .mutation(async ({ ctx, input }) => {
      await withdrawInvitation(ctx.app, ctx.principal, input, ctx.client);
      return { ok: true as const };
    }),
  invitation: anyone
    .input(body(invitationInput))
    .query(({ ctx, input }) => openInvitation(ctx.app, ctx.principal, input)),
  /** The one call that somebody may make whose own organisation still waits. */
  join: forPrincipal.input(body(invitationInput)).mutation(async ({ ctx, input }) => {
    await join(ctx.app, ctx.principal, input, ctx.client);
    return { ok: true as const };
  }),
  changeRole: scoped('ADMIN')
    .input(body(changeRoleInput))
    .mutation(async ({ ctx, input }) => {
      await changeRole(ctx.app, ctx.principal, input, ctx.client);
      return { ok: true as const };
    }),
  remove: scoped('ADMIN')
    .input(body(removeInput))
    .mutation(async ({ ctx, input }) => {
      await removeMember(ctx.app, ctx.principal, input, ctx.client);
      return { ok: true as const };
    }),
  leave: scoped('READ')
    .input(body(leaveInput))
    .mutation(async ({ ctx, input }) => {
      await leaveOrganisation(ctx.app, ctx.principal, input, ctx.client);
      return { ok: true as const };
    }),
});
