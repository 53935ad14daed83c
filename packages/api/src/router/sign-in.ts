import { recordSignOut } from '../auth/sessions/session.ts';
import { passwordSignInInput, signInWithPassword } from '../auth/sign-in/with-password.ts';
import { clientSignInLimits } from '../platform/security/sign-in-limits.ts';
import { body, nothing, publicProcedure, router, whileNotLimited } from './trpc.ts';

export const signInRouter = router({
  withPassword: whileNotLimited(clientSignInLimits)
    .input(body(passwordSignInInput))
    .mutation(async ({ ctx, input }) => {
      await ctx.session.start(await signInWithPassword(ctx.app, input, ctx.client));
      return { ok: true as const };
    }),
  out: publicProcedure.input(body(nothing)).mutation(async ({ ctx }) => {
    await recordSignOut(ctx.app, ctx.principal, ctx.client);
    await ctx.session.end();
    return { ok: true as const };
  }),
});
