import type { App } from '../../app.ts';
import { hourSeconds } from '../../platform/durations.ts';
import type { JobKinds } from '../../platform/jobs/registry.ts';
import { runSteps } from '../../platform/jobs/run-steps.ts';
import { sweepHolds } from './holds.ts';
import { deleteOldDays, storeMemberDays } from './keep-days.ts';
import { deleteExpiredKeys } from './usage-input.ts';

/** The jobs that keep the history of usage and delete what has expired. Times are in UTC. */
export function usageJobs(app: App): Pick<JobKinds, 'usage-days' | 'usage-sweep'> {
  return {
    'usage-days': {
      handler: () => storeMemberDays(app),
      schedule: '1 0 * * *',
      policy: 'stately',
      retry: { forSeconds: hourSeconds, longestPauseSeconds: 300 },
    },
    'usage-sweep': {
      handler: () =>
        runSteps(app.log, {
          'idempotency keys': () => deleteExpiredKeys(app),
          holds: () => sweepHolds(app),
          'old days': () => deleteOldDays(app),
        }),
      schedule: '*/10 * * * *',
      policy: 'stately',
      retry: { forSeconds: 60, longestPauseSeconds: 60 },
    },
  };
}
