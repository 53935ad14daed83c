import { changesInput, readChanges } from '../changes/read-changes.ts';
import { changeReaderOf, holderOf } from '../sessions/change-reader.ts';
import { body, holderProcedure, router } from './trpc.ts';

export const changesRouter = router({
  since: holderProcedure('READ')
    .input(body(changesInput))
    .query(({ ctx, input, signal }) =>
      readChanges(ctx.app, changeReaderOf(ctx.principal), input, { holder: holderOf(ctx.principal), signal }),
    ),
});
