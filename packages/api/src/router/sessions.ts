import { freshSignInInput, signInFresh } from '../auth/password/fresh-sign-in.ts';
import { recordSignOut } from '../auth/sessions/session.ts';
import { passwordSignInInput, signInWithPassword } from '../auth/sign-in/with-password.ts';
import { issueToken, tokenInput } from '../auth/tokens/issue-token.ts';
import { readKeySet, requireTokens } from '../auth/tokens/token-keys.ts';
import { currentPlan } from '../organisations/plan.ts';
import { clientSignInLimits } from '../platform/security/throttle.ts';
import {
  body,
  nothing,
  publicProcedure,
  router,
  scopedProcedure,
  tokenProcedure,
  userWhileNotLimited,
  whileNotLimited,
} from './trpc.ts';

export const sessionsRouter = router({
  /**
   * Returns the caller, for the company's other services. Runs no query: the session's query
   * has read everything. A user who no longer belongs to any organisation is refused with 403
   * like one who awaits approval, because a reverse proxy decides by the status alone.
   */
  verify: scopedProcedure('READ').query(({ ctx }) => {
    const { user, organisation, role, scopes, planRow } = ctx.principal;
    return {
      user: { id: user.id, email: user.email, name: user.name },
      organisation: organisation && { ...organisation, tier: currentPlan(ctx.app, planRow).tier },
      role,
      scopes,
    };
  }),
});

export const signInRouter = router({
  withPassword: whileNotLimited(clientSignInLimits)
    .input(body(passwordSignInInput))
    .mutation(async ({ ctx, input }) => {
      await ctx.session.start(await signInWithPassword(ctx.app, input, ctx.client));
      return { ok: true as const };
    }),
  again: userWhileNotLimited(clientSignInLimits)
    .input(body(freshSignInInput))
    .mutation(async ({ ctx, input }) => {
      await ctx.session.renew(await signInFresh(ctx.app, ctx.principal, input, ctx.client));
      return { ok: true as const };
    }),
  out: publicProcedure.input(body(nothing)).mutation(async ({ ctx }) => {
    await recordSignOut(ctx.app, ctx.principal, ctx.client);
    await ctx.session.end();
    return { ok: true as const };
  }),
});

export const tokensRouter = router({
  issue: tokenProcedure.input(body(tokenInput)).mutation(({ ctx, input }) => issueToken(ctx.app, ctx.principal, input)),
  /** The JSON Web Key Set by which services verify tokens. */
  keySet: publicProcedure.query(({ ctx }) => readKeySet(requireTokens(ctx.app))),
});
