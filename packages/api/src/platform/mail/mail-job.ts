import type { App } from '../../app.ts';
import { daySeconds } from '../durations.ts';
import type { JobKind } from '../jobs/registry.ts';

/** Returns the kind of a job that mails something. `send` also receives the job's id, which is stable across retries. */
export function mailJob<Data>(app: App, send: (app: App, data: Data, jobId: string) => Promise<void>): JobKind<Data> {
  return {
    handler: (data, id) => send(app, data, id),
    // A mail server may be unavailable over a weekend.
    retry: { forSeconds: 3 * daySeconds, longestPauseSeconds: 900 },
    isHandledHere: app.mail.on,
    concurrency: 2,
  };
}
