import { passkeyOptions } from '../auth/factors/passkeys.ts';
import { freshSignInInput, signInFresh } from '../auth/password/fresh-sign-in.ts';
import type { RoleScope } from '../auth/principal.ts';
import { recordSignOut } from '../auth/sessions/session.ts';
import { finishSecondStep, readSecondStep, secondStepInput } from '../auth/sign-in/second-step.ts';
import { passkeySignInInput, signInWithPasskey } from '../auth/sign-in/with-passkey.ts';
import { passwordSignInInput, signInWithPassword } from '../auth/sign-in/with-password.ts';
import { issueToken, tokenInput } from '../auth/tokens/issue-token.ts';
import { readKeySet, requireTokens } from '../auth/tokens/token-keys.ts';
import { currentPlan } from '../organisations/plan.ts';
import { clientSignInLimits } from '../platform/security/throttle.ts';
import { body, nothing } from './body.ts';
import {
  calls,
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
      // A session's scopes are those of a role.
      scopes: scopes as RoleScope[],
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
      await ctx.session.renew(
        await signInFresh(ctx.app, ctx.principal, input, ctx.session.challengeCookie(), ctx.client),
      );
      return { ok: true as const };
    }),
  /** Does the second step of the sign-in that the browser's cookie names. */
  secondStep: publicProcedure.input(body(secondStepInput)).mutation(async ({ ctx, input }) => {
    const { session } = ctx;
    const cookies = { stepToken: session.stepToken(), challengeCookie: session.challengeCookie() };
    await session.begin(await finishSecondStep(ctx.app, input, cookies, ctx.client));
    return { ok: true as const };
  }),
  /** Whether the browser has a passkey of this service, its answer tells: the options are the same for everybody. */
  passkeyOptions: publicProcedure.input(body(nothing)).mutation(async ({ ctx }) => {
    const { options, cookie } = await passkeyOptions(ctx.app, ctx.session.challengeCookie(), ctx.client);
    ctx.session.rememberChallenge(cookie);
    return options;
  }),
  withPasskey: whileNotLimited(clientSignInLimits)
    .input(body(passkeySignInInput))
    .mutation(async ({ ctx, input }) => {
      const { session } = ctx;
      await session.begin(await signInWithPasskey(ctx.app, input, session.challengeCookie(), ctx.client));
      return { ok: true as const };
    }),
  step: publicProcedure.query(({ ctx }) => readSecondStep(ctx.app, ctx.session.stepToken())),
  out: publicProcedure.input(body(nothing)).mutation(async ({ ctx }) => {
    await recordSignOut(ctx.app, ctx.principal, ctx.client);
    await ctx.session.end();
    return { ok: true as const };
  }),
});

export const tokensRouter = router({
  issue: tokenProcedure.input(body(tokenInput)).mutation(calls(issueToken)),
  /** The JSON Web Key Set by which services verify tokens. */
  keySet: publicProcedure.query(({ ctx }) => readKeySet(requireTokens(ctx.app))),
});
