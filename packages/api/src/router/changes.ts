import { callerIdOf, changeReaderOf, mayStillRead } from '../auth/sessions/change-reader.ts';
import { changesInput, readChanges } from '../changes/read-changes.ts';
import { body } from './body.ts';
import { anyPrincipalProcedure, router } from './trpc.ts';

export const changesRouter = router({
  since: anyPrincipalProcedure('READ')
    .input(body(changesInput))
    .query(({ ctx: { app, principal }, input, signal }) =>
      readChanges(app, changeReaderOf(principal), input, {
        callerId: callerIdOf(principal),
        signal,
        mayStillRead: () => mayStillRead(app, principal),
      }),
    ),
});
