import { issueToken, tokenInput } from '../auth/tokens/issue-token.ts';
import { requireTokens } from '../auth/tokens/require-tokens.ts';
import { readKeySet } from '../auth/tokens/token-keys.ts';
import { body, publicProcedure, router, tokenProcedure } from './trpc.ts';

export const tokensRouter = router({
  issue: tokenProcedure.input(body(tokenInput)).mutation(({ ctx, input }) => issueToken(ctx.app, ctx.principal, input)),
  /** The JSON Web Key Set by which services verify tokens. */
  keySet: publicProcedure.query(({ ctx }) => readKeySet(requireTokens(ctx.app))),
});
