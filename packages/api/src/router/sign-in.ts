import { passwordSignInInput, signInWithPassword } from '../sign-in/with-password.ts';
import { anyone, body, nothing, router, whileNotLimited } from './trpc.ts';

export const signInRouter = router({
  withPassword: whileNotLimited('sign-in-client')
    .input(body(passwordSignInInput))
    .mutation(async ({ ctx, input }) => {
      const { userId, organisationId } = await signInWithPassword(ctx.app, input, ctx.client);
      await ctx.session.start(userId, organisationId);
      return { ok: true as const };
    }),
  out: anyone.input(body(nothing)).mutation(async ({ ctx }) => {
    await ctx.session.end();
    return { ok: true as const };
  }),
});
