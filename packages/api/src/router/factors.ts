import {
  beginTotp,
  confirmTotp,
  confirmTotpInput,
  listFactors,
  readFactorWarnings,
  readTotpSetup,
  removeFactor,
  removeFactorInput,
  renewRecoveryCodes,
} from '../auth/factors/manage-factors.ts';
import { addPasskey, addPasskeyInput, newPasskeyOptions } from '../auth/factors/passkeys.ts';
import { readRequirement } from '../auth/factors/read-requirement.ts';
import { answerReview, answerReviewInput, readReview } from '../auth/factors/review.ts';
import { body, nothing } from './body.ts';
import { approvedProcedure, approvedSetupProcedure, calls, does, fresh, router, setupProcedure } from './trpc.ts';

/** What changes a user's factors needs a fresh session. */
const freshProcedure = approvedProcedure.use(fresh);
/** What adds a factor is also open to a user who must set one up. */
const addingProcedure = approvedSetupProcedure.use(fresh);

export const factorsRouter = router({
  list: approvedSetupProcedure.query(({ ctx }) => listFactors(ctx.app, ctx.principal)),
  warnings: approvedProcedure.query(({ ctx }) => readFactorWarnings(ctx.app, ctx.principal)),
  requirement: approvedSetupProcedure.query(({ ctx }) => readRequirement(ctx.app, ctx.principal)),
  totp: addingProcedure.input(body(nothing)).mutation(({ ctx }) => beginTotp(ctx.app, ctx.principal)),
  totpSetup: addingProcedure.query(({ ctx }) => readTotpSetup(ctx.app, ctx.principal)),
  passkeyOptions: addingProcedure.input(body(nothing)).mutation(async ({ ctx }) => {
    const { app, principal, session, client } = ctx;
    const { options, cookie } = await newPasskeyOptions(app, principal, session.challengeCookie(), client);
    session.rememberChallenge(cookie);
    return options;
  }),
  addPasskey: addingProcedure
    .input(body(addPasskeyInput))
    .mutation(({ ctx, input }) => addPasskey(ctx.app, ctx.principal, input, ctx.session.challengeCookie(), ctx.client)),
  confirmTotp: addingProcedure.input(body(confirmTotpInput)).mutation(calls(confirmTotp)),
  recoveryCodes: freshProcedure
    .input(body(nothing))
    .mutation(({ ctx }) => renewRecoveryCodes(ctx.app, ctx.principal, ctx.client)),
  review: setupProcedure.query(({ ctx }) => readReview(ctx.app, ctx.principal)),
  answerReview: setupProcedure.input(body(answerReviewInput)).mutation(does(answerReview)),
  remove: freshProcedure.input(body(removeFactorInput)).mutation(does(removeFactor)),
});
