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
import {
  approvedProcedure,
  body,
  freshOrPassword,
  limited,
  nothing,
  publicProcedure,
  router,
  setupProcedure,
  userProcedure,
} from './trpc.ts';

export const accountsRouter = router({
  signUp: limited('sign-up-client')
    .input(body(signUpInput))
    .mutation(async ({ ctx, input }) => {
      const { email, browserToken } = await signUp(ctx.app, input, ctx.client);
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
  keepPassword: publicProcedure.input(body(keepPasswordInput)).mutation(async ({ ctx, input }) => {
    await keepPassword(ctx.app, input, ctx.session.browserToken(), ctx.client);
    return { ok: true as const };
  }),
  confirmChange: publicProcedure.input(body(confirmAddressChangeInput)).mutation(async ({ ctx, input }) => {
    return { ok: true as const, ended: await confirmAddressChange(ctx.app, input, ctx.client) };
  }),
  changeToken: publicProcedure
    .input(body(addressChangeTokenInput))
    .query(({ ctx, input }) => readAddressChangeToken(ctx.app, input)),
  approveByDomain: publicProcedure.input(body(approveByDomainInput)).mutation(async ({ ctx, input }) => {
    await approveByDomain(ctx.app, input, ctx.client);
    return { ok: true as const };
  }),
  onboard: approvedProcedure.input(body(nothing)).mutation(async ({ ctx }) => {
    await completeOnboarding(ctx.app, ctx.principal, ctx.client);
    return { ok: true as const };
  }),
  approvalProgress: userProcedure.query(({ ctx }) => readApprovalProgress(ctx.app, ctx.principal)),
  profile: userProcedure.query(({ ctx }) => readProfile(ctx.app, ctx.principal)),
  activity: approvedProcedure.query(({ ctx }) => readActivity(ctx.app.db, ctx.principal.user.id)),
  endSession: userProcedure.input(body(endSessionInput)).mutation(async ({ ctx, input }) => {
    await endSession(ctx.app, ctx.principal, input, ctx.client);
    return { ok: true as const };
  }),
  newBrowsers: userProcedure.query(({ ctx }) => readNewBrowsers(ctx.app, ctx.principal, ctx.client)),
  acknowledgeBrowsers: userProcedure.input(body(nothing)).mutation(async ({ ctx }) => {
    await acknowledgeBrowsers(ctx.app, ctx.principal, ctx.client);
    return { ok: true as const };
  }),
  changeName: approvedProcedure.input(body(changeNameInput)).mutation(async ({ ctx, input }) => {
    await changeName(ctx.app, ctx.principal, input);
    return { ok: true as const };
  }),
  changeAddress: approvedProcedure
    .use(freshOrPassword)
    .input(body(requestAddressChangeInput))
    .mutation(async ({ ctx, input }) => {
      await requestAddressChange(ctx.app, ctx.principal, input, ctx.client);
      return { ok: true as const };
    }),
  resendAddressChange: approvedProcedure.input(body(nothing)).mutation(async ({ ctx }) => {
    await resendAddressChange(ctx.app, ctx.principal, ctx.client);
    return { ok: true as const };
  }),
  cancelAddressChange: approvedProcedure.input(body(nothing)).mutation(async ({ ctx }) => {
    await cancelAddressChange(ctx.app, ctx.principal);
    return { ok: true as const };
  }),
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
    const { user, organisation } = ctx.principal;
    const { ownSessionEnded, passwordHash } = await unlinkIdentity(ctx.app, ctx.principal, input, ctx.client);
    // The password was just confirmed: it opens a session in place of the one that the subject opened.
    if (ownSessionEnded) {
      await ctx.session.start({
        userId: user.id,
        organisationId: organisation?.id ?? null,
        passwordHash,
        stepDone: true,
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
    .mutation(async ({ ctx, input }) => {
      await endOtherSessions(ctx.app, ctx.principal, input, ctx.client);
      return { ok: true as const };
    }),
});
