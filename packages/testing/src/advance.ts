import type { Duration } from './calls.ts';
import type { Service } from './service.ts';

type JobName = Parameters<Service['app']['jobs']['wake']>[0];

const longestMilliseconds = 5 * 366 * 86_400_000;
const settleMilliseconds = 60_000;

/**
 * Waits for what is under way, moves both clocks, then runs each scheduled job once, as if its time had come, and waits for
 * all of it. The real times of the jobs stay as they are, and so do the pauses before retries.
 *
 * @throws Error for less than nothing and more than five years.
 */
export async function advance(service: Service, { days = 0, hours = 0, minutes = 0, seconds = 0 }: Duration) {
  const milliseconds = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000;
  if (!(milliseconds >= 0 && milliseconds <= longestMilliseconds))
    throw new Error('Time is moved forward, by five years at most.');

  const { app, sandbox } = service;
  // An event whose delivery was signed before would arrive outside of the tolerance.
  await settled(service);
  service.moveClock(milliseconds);
  sandbox.payment.clock.advance({ seconds: Math.floor(milliseconds / 1000) });
  await settled(service);
  const scheduled = await app.sql<{ name: JobName }[]>`
    select name from pgboss.schedule order by name`;
  await app.db.transaction(async (tx) => {
    for (const { name } of scheduled) await app.jobs.send(tx, name, {} as never);
  });
  await settled(service);
  return app.now();
}

/**
 * Resolves when the payment provider's events are delivered, and the jobs and syncs that they caused have ended. Not when
 * jobs have succeeded that wait for another attempt.
 *
 * @throws Error after a minute.
 */
export async function settled({ app, sandbox }: Service): Promise<void> {
  const deadline = performance.now() + settleMilliseconds;
  // Twice, because a job may end between the two questions of a round, and its events are delivered after that.
  for (let idleRounds = 0; idleRounds < 2; ) {
    await sandbox.payment.deliveries.settled();
    const hadNoSync = app.syncs.isIdle();
    const open = await app.sql<{ name: JobName }[]>`
      select distinct name from pgboss.job
      where state = 'active' or (state = 'created' and start_after <= now())`;
    const isIdle = hadNoSync && open.length === 0 && app.syncs.isIdle();
    idleRounds = isIdle ? idleRounds + 1 : 0;
    if (isIdle) continue;
    if (performance.now() > deadline) throw new Error(`These jobs did not end: ${open.map(({ name }) => name)}.`);
    for (const { name } of open) app.jobs.wake(name);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
