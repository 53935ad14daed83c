import { createKey, createKeyInput } from '../members/keys/create-key.ts';
import { listKeys } from '../members/keys/list-keys.ts';
import { revokeKey, revokeKeyInput } from '../members/keys/revoke-key.ts';
import { body, router, scopedProcedure } from './trpc.ts';

export const keysRouter = router({
  list: scopedProcedure('ADMIN').query(({ ctx }) => listKeys(ctx.app, ctx.principal)),
  create: scopedProcedure('ADMIN')
    .input(body(createKeyInput))
    .mutation(({ ctx, input }) => createKey(ctx.app, ctx.principal, input, ctx.client)),
  revoke: scopedProcedure('ADMIN')
    .input(body(revokeKeyInput))
    .mutation(async ({ ctx, input }) => {
      await revokeKey(ctx.app, ctx.principal, input, ctx.client);
      return { ok: true as const };
    }),
});
