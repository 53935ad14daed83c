import { deleteAccount, deleteAccountInput, readDeletion } from '../members/leaving/delete-account.ts';
import { deleteOrganisation, deleteOrganisationInput } from '../members/leaving/delete-organisation.ts';
import { exportData } from '../members/leaving/export.ts';
import { approvedProcedure, body, router, scopedProcedure, userProcedure } from './trpc.ts';

export const leavingRouter = router({
  export: approvedProcedure.query(({ ctx }) => exportData(ctx.app, ctx.principal)),
  deletion: userProcedure.query(({ ctx }) => readDeletion(ctx.app, ctx.principal)),
  deleteAccount: userProcedure.input(body(deleteAccountInput)).mutation(async ({ ctx, input }) => {
    await deleteAccount(ctx.app, ctx.principal, input, ctx.client);
    await ctx.session.end();
    return { ok: true as const };
  }),
  deleteOrganisation: scopedProcedure('ADMIN')
    .input(body(deleteOrganisationInput))
    .mutation(async ({ ctx, input }) => {
      await deleteOrganisation(ctx.app, ctx.principal, input, ctx.client);
      return { ok: true as const };
    }),
});
