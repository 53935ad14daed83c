import { deleteAccount, deleteAccountInput, readDeletion } from '../leaving/delete-account.ts';
import { deleteOrganisation, deleteOrganisationInput } from '../leaving/delete-organisation.ts';
import { exportData } from '../leaving/export.ts';
import { body, forPrincipal, router, scoped, signedIn } from './trpc.ts';

export const leavingRouter = router({
  export: signedIn.query(({ ctx }) => exportData(ctx.app, ctx.principal)),
  deletion: signedIn.query(({ ctx }) => readDeletion(ctx.app, ctx.principal)),
  deleteAccount: forPrincipal.input(body(deleteAccountInput)).mutation(async ({ ctx, input }) => {
    await deleteAccount(ctx.app, ctx.principal, input, ctx.client);
    await ctx.session.end();
    return { ok: true as const };
  }),
  deleteOrganisation: scoped('ADMIN')
    .input(body(deleteOrganisationInput))
    .mutation(async ({ ctx, input }) => {
      await deleteOrganisation(ctx.app, ctx.principal, input, ctx.client);
      return { ok: true as const };
    }),
});
