import type { App } from '../../app.ts';
import { newId } from '../../platform/db/id.ts';
import { AppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import type { Ask } from '../../platform/providers/payment/connection.ts';
import { requirePayment } from '../actions/require-payment.ts';

/**
 * Runs `work` under the lease `name`, in one process at a time. No transaction
 * and no pooled connection is held meanwhile: the lease is a row, taken and released by single
 * statements. It expires after a crash, and then another holder may take it: whatever the
 * first one still stores is refused, because the row's version has changed.
 *
 * An action, for which a user waits, has eight seconds in all: waiting for the lease and every request included. A job
 * waits 20 s for the lease, may start requests for 20 s, and has 17 s for the last one.
 *
 * @throws AppError BILLING_UNAVAILABLE; BUSY if the lease stays taken; PROVIDER_UNAVAILABLE if
 *   the requests take too long.
 */
export async function withLease<Result>(
  app: App,
  name: string,
  work: (ask: Ask) => Promise<Result>,
  as: 'action' | 'job' = 'job',
): Promise<Result> {
  const { ask } = requirePayment(app);
  const { actionSeconds, leaseSeconds: waitSeconds } = app.config.timeouts;
  const holder = newId(app.now());
  const deadline = performance.now() + actionSeconds * 1000;
  await take(app, name, holder, as === 'action' ? deadline : performance.now() + waitSeconds * 1000);

  const lastRequestAt = performance.now() + requestSeconds * 1000;
  try {
    return await work((request) => {
      if (as === 'action') return ask(request, { deadline });
      if (performance.now() > lastRequestAt) throw tooSlow();
      return ask(request);
    });
  } finally {
    await release(app, name, holder);
  }
}

async function release(app: App, name: string, holder: string): Promise<void> {
  await app.sql`delete from payment_leases where name = ${name} and holder = ${holder}`.catch((error: unknown) =>
    app.log.warn('A payment lease was not released; it expires.', { error }),
  );
}

/** For this long new requests may start. A request takes at most 17 s, so the last one ends within the lease. */
const requestSeconds = 20;
const leaseSeconds = 45;

async function take(app: App, name: string, holder: string, giveUpAt: number): Promise<void> {
  for (let pause = 20; !(await tryTake(app, name, holder)); pause = Math.min(pause * 1.5, 250)) {
    if (performance.now() > giveUpAt) {
      const sentence = message('billing_request_under_way');
      throw new AppError('BUSY', sentence, { retryAfterSeconds: 5 });
    }
    await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random())));
  }
}

/** Uses the database's clock, because the clocks of processes may differ by more than a lease. */
async function tryTake(app: App, name: string, holder: string): Promise<boolean> {
  const taken = await app.sql`
    insert into payment_leases as held (name, holder, ends_at)
    values (${name}, ${holder}, clock_timestamp() + make_interval(secs => ${leaseSeconds}))
    on conflict (name) do update
    set holder = excluded.holder, ends_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
    where held.ends_at <= clock_timestamp()
    returning holder`;
  return taken.length > 0;
}

function tooSlow(): AppError {
  return new AppError('PROVIDER_UNAVAILABLE', message('provider_slow'));
}
