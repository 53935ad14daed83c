import { changesInput, readChanges } from '../changes/read-changes.ts';
import { changeReaderOf, holderOf, mayStillRead } from '../sessions/change-reader.ts';
import { body, holderProcedure, router } from './trpc.ts';

export const changesRouter = router({
  since: holderProcedure('READ')
    .input(body(changesInput))
    .query(({ ctx: { app, principal }, input, signal }) =>
      readChanges(app, changeReaderOf(principal), input, {
        holder: holderOf(principal),
        signal,
        mayStillRead: () => mayStillRead(app, principal),
      }),
    ),
});
