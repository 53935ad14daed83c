import type { App } from './app.ts';
import { deleteExpired } from './auth/delete-expired.ts';
import { encryptAnew } from './auth/encrypt-anew.ts';
import { beginFactorGrace } from './auth/factors/who-must.ts';
import { rotateTokenKeys } from './auth/tokens/token-keys.ts';
import { sendVerification } from './auth/verification/send-verification.ts';
import { billingJobs } from './billing/sync/jobs.ts';
import { usageJobs } from './billing/usage/jobs.ts';
import { deleteOldChanges } from './changes/delete-old.ts';
import { deleteOldKeys } from './members/keys/store-key.ts';
import { eraseDeclined } from './members/leaving/erase-declined.ts';
import { eraseUnclaimed } from './members/leaving/erase-unclaimed.ts';
import type { JobKinds } from './platform/jobs/registry.ts';
import { runSteps } from './platform/jobs/run-steps.ts';
import { mailJob } from './platform/mail/mail-job.ts';

/** The App, and a copy that uses the pool of scheduled jobs. */
type Apps = { app: App; scheduled: App };

/** Every kind of job, by name. Those that run at fixed times use the pool of `scheduled`. */
export function jobKinds({ app, scheduled }: Apps): JobKinds {
  return {
    'verification-mail': mailJob(app, sendVerification),
    sweep: {
      handler: () =>
        runSteps(scheduled.log, {
          expired: () => deleteExpired(scheduled),
          'accounts that nobody followed up': () => eraseUnclaimed(scheduled),
          'operators without a factor': () => beginFactorGrace(scheduled),
          'old keys': () => deleteOldKeys(scheduled),
          'keys of tokens': () => rotateTokenKeys(scheduled),
          // Last, because it may take minutes.
          'declined requests': () => eraseDeclined(scheduled),
        }),
      schedule: '17 * * * *',
      retry: { forSeconds: 600, longestPauseSeconds: 300 },
      policy: 'stately',
      recordsSuccess: true,
    },
    'encrypt-anew': {
      handler: () => encryptAnew(scheduled),
      schedule: '* * * * *',
      policy: 'stately',
      retry: { forSeconds: 0, longestPauseSeconds: 60 },
    },
    'changes-sweep': {
      handler: () => deleteOldChanges(scheduled),
      schedule: '*/10 * * * *',
      policy: 'stately',
      retry: { forSeconds: 60, longestPauseSeconds: 60 },
    },
    ...usageJobs(scheduled),
    ...billingJobs({ app, scheduled }),
  };
}
