import { passwordSignInInput, signInWithPassword } from '../sign-in/with-password.ts';
import { anyone, body, nothing, router } from './trpc.ts';

export const signInRouter = router({
  withPassword: anyone.input(body(passwordSignInInput)).mutation(async ({ ctx, input }) => {
    const { userId, organisationId } = await signInWithPassword(ctx.app, input, ctx.client);
    await ctx.session.start(userId, organisationId);
    return { ok: true as const };
  }),
  out: anyone.input(body(nothing)).mutation(async ({ ctx }) => {
    await ctx.session.end();
    return { ok: true as const };
  }),
});
