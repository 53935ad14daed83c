import { deleteAccount, deleteAccountInput, readDeletion } from '../leaving/delete-account.ts';
import { exportData } from '../leaving/export.ts';
import { body, forPrincipal, router, signedIn } from './trpc.ts';

export const leavingRouter = router({
  export: signedIn.query(({ ctx }) => exportData(ctx.app, ctx.principal)),
  deletion: signedIn.query(({ ctx }) => readDeletion(ctx.app, ctx.principal)),
  deleteAccount: forPrincipal.input(body(deleteAccountInput)).mutation(async ({ ctx, input }) => {
    await deleteAccount(ctx.app, ctx.principal, input, ctx.client);
    await ctx.session.end();
    return { ok: true as const };
  }),
});
