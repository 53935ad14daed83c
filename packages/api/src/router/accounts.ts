import { readActivity } from '../audit/read-activity.ts';
import {
  changePassword,
  changePasswordInput,
  setFirstPassword,
  setFirstPasswordInput,
} from '../auth/password/change-password.ts';
import { passwordTokenInput, readPasswordToken, setPassword, setPasswordInput } from '../auth/password/set-password.ts';
import { endOtherSessions, endOtherSessionsInput, endSession, endSessionInput } from '../auth/profile/end-sessions.ts';
import { changeName, changeNameInput, completeOnboarding, readProfile } from '../auth/profile/profile.ts';
import { acknowledgeBrowsers, isKnownBrowser, readNewBrowsers } from '../auth/sessions/known-browser.ts';
import {
  confirmWithProviderInput,
  connectIdentityInput,
  startConfirming,
  startConnecting,
} from '../auth/sign-in/start-attempt.ts';
import { unlinkIdentity, unlinkIdentityInput } from '../auth/sign-in/unlink-identity.ts';
import { approveByDomain, approveByDomainInput, readApprovalProgress } from '../auth/sign-up/awaiting-approval.ts';
import { signUp, signUpInput } from '../auth/sign-up/sign-up.ts';
import {
  cancelAddressChange,
  requestAddressChange,
  requestAddressChangeInput,
  resendAddressChange,
} from '../auth/verification/address-change-request.ts';
import {
  addressChangeTokenInput,
  confirmAddressChange,
  confirmAddressChangeInput,
  readAddressChangeToken,
} from '../auth/verification/change-address.ts';
import { keepPassword, keepPasswordInput } from '../auth/verification/keep-password.ts';
import { resendInput, resendVerification } from '../auth/verification/send-verification.ts';
import { body, nothing } from './body.ts';
import {
  approvedProcedure,
  does,
  done,
  freshOrPassword,
  limited,
  publicProcedure,
  router,
  setupProcedure,
  userProcedure,
} from './trpc.ts';

export const accountsRouter = router({
  signUp: limited('sign-up-client')
    .input(body(signUpInput))
    .mutation(async ({ ctx, input }) => {
      const { email, browserToken } = await signUp(ctx.app, input, ctx.client, ctx.session.browserToken());
      ctx.session.rememberSignUp(browserToken);
      return { pending: true as const, email };
    }),
  resend: limited('resend-client')
    .input(body(resendInput))
    .mutation(async ({ ctx, input }) => {
      const known = { email: input.email, token: ctx.client.knownBrowser };
      const { language } = ctx.client;
      const fromKnownBrowser = await isKnownBrowser(ctx.app, ctx.app.db, known);
      await resendVerification(ctx.app, input, { fromKnownBrowser, language });
      return { ok: true as const };
    }),
  passwordToken: publicProcedure
    .input(body(passwordTokenInput))
    .query(({ ctx, input }) => readPasswordToken(ctx.app, input)),
  setPassword: publicProcedure.input(body(setPasswordInput)).mutation(async ({ ctx, input }) => {
    return { ok: true as const, ended: await setPassword(ctx.app, input, ctx.client) };
  }),
  keepPassword: publicProcedure
    .input(body(keepPasswordInput))
    .mutation(({ ctx, input }) => done(keepPassword(ctx.app, input, ctx.session.browserToken(), ctx.client))),
  confirmChange: publicProcedure.input(body(confirmAddressChangeInput)).mutation(async ({ ctx, input }) => {
    return { ok: true as const, ended: await confirmAddressChange(ctx.app, input, ctx.client) };
  }),
  changeToken: publicProcedure
    .input(body(addressChangeTokenInput))
    .query(({ ctx, input }) => readAddressChangeToken(ctx.app, input)),
  approveByDomain: publicProcedure
    .input(body(approveByDomainInput))
    .mutation(({ ctx, input }) => done(approveByDomain(ctx.app, input, ctx.client))),
  onboard: approvedProcedure
    .input(body(nothing))
    .mutation(({ ctx }) => done(completeOnboarding(ctx.app, ctx.principal, ctx.client))),
  approvalProgress: userProcedure.query(({ ctx }) => readApprovalProgress(ctx.app, ctx.principal)),
  profile: userProcedure.query(({ ctx }) => readProfile(ctx.app, ctx.principal)),
  activity: approvedProcedure.query(({ ctx }) => readActivity(ctx.app.db, ctx.principal.user.id)),
  endSession: userProcedure.input(body(endSessionInput)).mutation(does(endSession)),
  newBrowsers: userProcedure.query(({ ctx }) => readNewBrowsers(ctx.app, ctx.principal, ctx.client)),
  acknowledgeBrowsers: userProcedure
    .input(body(nothing))
    .mutation(({ ctx }) => done(acknowledgeBrowsers(ctx.app, ctx.principal, ctx.client))),
  changeName: approvedProcedure.input(body(changeNameInput)).mutation(does(changeName)),
  changeAddress: approvedProcedure
    .use(freshOrPassword)
    .input(body(requestAddressChangeInput))
    .mutation(does(requestAddressChange)),
  resendAddressChange: approvedProcedure
    .input(body(nothing))
    .mutation(({ ctx }) => done(resendAddressChange(ctx.app, ctx.principal, ctx.client))),
  cancelAddressChange: approvedProcedure
    .input(body(nothing))
    .mutation(({ ctx }) => done(cancelAddressChange(ctx.app, ctx.principal))),
  changePassword: userProcedure.input(body(changePasswordInput)).mutation(async ({ ctx, input }) => {
    const { token, ended } = await changePassword(ctx.app, ctx.principal, input, ctx.client);
    await ctx.session.renew(token);
    return { ok: true as const, ended };
  }),
  setFirstPassword: userProcedure.input(body(setFirstPasswordInput)).mutation(async ({ ctx, input }) => {
    const { token, ended } = await setFirstPassword(ctx.app, ctx.principal, input, ctx.client);
    await ctx.session.renew(token);
    return { ok: true as const, ended };
  }),
  unlinkIdentity: approvedProcedure.input(body(unlinkIdentityInput)).mutation(async ({ ctx, input }) => {
    const { user, organisation, hasFactor, identityFactor } = ctx.principal;
    const { ownSessionEnded, passwordHash } = await unlinkIdentity(ctx.app, ctx.principal, input, ctx.client);
    // The password was just confirmed: it opens a session in place of the one that the subject opened.
    if (ownSessionEnded) {
      await ctx.session.start({
        userId: user.id,
        organisationId: organisation?.id ?? null,
        passwordHash,
        replaces: { hasFactor, identityFactor },
      });
    }
    return { ok: true as const };
  }),
  connectIdentity: approvedProcedure
    .use(freshOrPassword)
    .input(body(connectIdentityInput))
    .mutation(async ({ ctx, input }) => {
      const { url, cookie } = await startConnecting(ctx.app, ctx.principal, input, ctx.client);
      ctx.session.rememberAttempt(cookie);
      return { url };
    }),
  confirmWithProvider: setupProcedure.input(body(confirmWithProviderInput)).mutation(async ({ ctx, input }) => {
    const { url, cookie } = await startConfirming(ctx.app, ctx.principal, input, ctx.client);
    ctx.session.rememberAttempt(cookie);
    return { url };
  }),
  endOtherSessions: userProcedure
    .use(freshOrPassword)
    .input(body(endOtherSessionsInput))
    .mutation(does(endOtherSessions)),
});
