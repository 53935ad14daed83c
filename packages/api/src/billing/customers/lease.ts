import { and, eq, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { prepared } from '../../platform/db/client.ts';
import { newId } from '../../platform/db/id.ts';
import { paymentLeases } from '../../platform/db/schema/billing.ts';
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
  await releaseOfLease(app.db)
    .execute({ name, holder })
    .catch((error: unknown) => app.log.warn('A payment lease was not released; it expires.', { error }));
}

const isHolders = and(
  eq(paymentLeases.name, sql.placeholder('name')),
  eq(paymentLeases.holder, sql.placeholder('holder')),
);

const releaseOfLease = prepared((db) => db.delete(paymentLeases).where(isHolders).prepare('lease_release'));

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
  const taken = await taking(app.db).execute({ name, holder });
  return taken.length > 0;
}

const taking = prepared((db) => {
  const endsAt = sql`clock_timestamp() + make_interval(secs => ${leaseSeconds})`;
  return db
    .insert(paymentLeases)
    .values({ name: sql.placeholder('name'), holder: sql.placeholder('holder'), endsAt })
    .onConflictDoUpdate({
      target: paymentLeases.name,
      set: { holder: sql`excluded.holder`, endsAt },
      setWhere: sql`${paymentLeases.endsAt} <= clock_timestamp()`,
    })
    .returning({ holder: paymentLeases.holder })
    .prepare('lease_taking');
});

function tooSlow(): AppError {
  return new AppError('PROVIDER_UNAVAILABLE', message('provider_slow'));
}
