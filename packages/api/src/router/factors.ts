import {
  beginTotp,
  confirmTotp,
  confirmTotpInput,
  listFactors,
  readTotpSetup,
  removeFactor,
  removeFactorInput,
  renewRecoveryCodes,
} from '../auth/factors/manage-factors.ts';
import { addPasskey, addPasskeyInput, newPasskeyOptions } from '../auth/factors/passkeys.ts';
import { answerReview, answerReviewInput, readReview } from '../auth/factors/review.ts';
import { approvedProcedure, body, fresh, nothing, router, userProcedure } from './trpc.ts';

/** What changes a user's factors needs a fresh session. */
const freshProcedure = approvedProcedure.use(fresh);

export const factorsRouter = router({
  list: approvedProcedure.query(({ ctx }) => listFactors(ctx.app, ctx.principal)),
  totp: freshProcedure.input(body(nothing)).mutation(({ ctx }) => beginTotp(ctx.app, ctx.principal)),
  totpSetup: freshProcedure.query(({ ctx }) => readTotpSetup(ctx.app, ctx.principal)),
  passkeyOptions: freshProcedure.input(body(nothing)).mutation(async ({ ctx }) => {
    const { app, principal, session, client } = ctx;
    const { options, cookie } = await newPasskeyOptions(app, principal, session.challengeCookie(), client);
    session.rememberChallenge(cookie);
    return options;
  }),
  addPasskey: freshProcedure
    .input(body(addPasskeyInput))
    .mutation(({ ctx, input }) => addPasskey(ctx.app, ctx.principal, input, ctx.session.challengeCookie(), ctx.client)),
  confirmTotp: freshProcedure
    .input(body(confirmTotpInput))
    .mutation(({ ctx, input }) => confirmTotp(ctx.app, ctx.principal, input, ctx.client)),
  recoveryCodes: freshProcedure
    .input(body(nothing))
    .mutation(({ ctx }) => renewRecoveryCodes(ctx.app, ctx.principal, ctx.client)),
  review: userProcedure.query(({ ctx }) => readReview(ctx.app, ctx.principal)),
  answerReview: userProcedure.input(body(answerReviewInput)).mutation(async ({ ctx, input }) => {
    await answerReview(ctx.app, ctx.principal, input, ctx.client);
    return { ok: true as const };
  }),
  remove: freshProcedure.input(body(removeFactorInput)).mutation(async ({ ctx, input }) => {
    await removeFactor(ctx.app, ctx.principal, input, ctx.client);
    return { ok: true as const };
  }),
});
