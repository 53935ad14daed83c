import { and, isNotNull, lte } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { WritingKey } from '../../auth/principal.ts';
import { writableTarget } from '../../auth/sessions/target-organisation.ts';
import { currentPlan } from '../../organisations/plan.ts';
import { isUuid } from '../../platform/db/id.ts';
import { deleteInSteps } from '../../platform/db/in-steps.ts';
import { usageHolds } from '../../platform/db/schema/usage.ts';
import { AppError } from '../../platform/errors.ts';
import { type Meter, meterInPath, periodOf, readUsed, type UsageAnswer } from './meter.ts';
import { idempotencyKeyCutoff } from './usage-input.ts';

/**
 * Makes what a hold reserved final (commit), or gives it back (release): in the period and on the day in which the hold
 * was made. The same end again changes nothing. Answers what is used of the meter now.
 *
 * @throws AppError NOT_FOUND for an unknown hold; FORBIDDEN for a key that may not end it, and where the organisation is
 *   closed; CONFLICT if it was ended the other way, or its end has passed.
 */
export async function endHold(
  app: App,
  principal: WritingKey,
  { hold: id }: { hold: string },
  outcome: 'committed' | 'released',
): Promise<UsageAnswer> {
  const hold = await readHold(app, id);
  if (hold === null) throw new AppError('NOT_FOUND', 'There is no such hold.');
  const { organisation } = principal;
  if (organisation !== null && !(hold.isOwn && organisation.id === hold.organisationId)) {
    throw new AppError('FORBIDDEN', 'This hold was made by a key of another kind or organisation.');
  }
  const target = await writableTarget(app, principal, hold.organisationId);
  const meter = meterInPath(app, hold.meter);

  const ended = outcome === 'committed' ? await commit(app, id, meter) : await release(app, id);
  if (!ended) requireOutcome(await readHold(app, id), outcome);

  const current = currentPlan(app, target.planRow);
  const { since, resetsAt } = periodOf(meter, current, app.now());
  return {
    meter: hold.meter,
    used: await readUsed(app, hold.organisationId, hold.meter, since),
    limit: current.plan.limits[hold.meter] ?? null,
    resets_at: resetsAt?.toISOString() ?? null,
  };
}

type Hold = { organisationId: string; meter: string; isOwn: boolean; outcome: string | null };

async function readHold({ sql }: App, id: string): Promise<Hold | null> {
  if (!isUuid(id)) return null;
  const [hold] = await sql<Hold[]>`
    select organisation_id as "organisationId", meter, is_own as "isOwn", outcome from usage_holds where id = ${id}`;
  return hold ?? null;
}

function requireOutcome(hold: Hold | null, wanted: 'committed' | 'released'): void {
  if (hold?.outcome === wanted) return;
  if (hold?.outcome === 'committed') throw new AppError('CONFLICT', 'This hold is committed.');
  if (hold?.outcome === 'released') throw new AppError('CONFLICT', 'This hold is released.');
  throw new AppError('CONFLICT', 'This hold has expired.');
}

/**
 * The statements below set the outcome of an open hold and take its amount out of usage.on_hold together. Whichever of
 * them comes first to the hold's row wins, so each amount leaves once.
 */
async function commit({ sql, now }: App, id: string, meter: Meter): Promise<boolean> {
  const time = now().toISOString();
  const isGauge = meter.kind === 'gauge';
  // If the row of the period has gone on to a later day since, the trigger has stored the day of the hold, and that day
  // is the last before it: a hold is open for 24 hours at most.
  const [ended] = await sql<{ ended: number }[]>`
    with ended as (
      update usage_holds set outcome = 'committed' where id = ${id} and outcome is null and ends_at > ${time}
      returning organisation_id, meter, since, day, amount, is_own
    ), counted as (
      update usage as held set
        used = held.used + ended.amount,
        on_hold = held.on_hold - ended.amount,
        own_reserved = held.own_reserved + case when ${isGauge} and ended.is_own then ended.amount else 0 end,
        day_used = held.day_used + case when held.day = ended.day then ended.amount else 0 end,
        set_at = case when ${isGauge} then greatest(held.set_at, ${time}::timestamptz) end
      from ended
      where (held.organisation_id, held.meter, held.since) = (ended.organisation_id, ended.meter, ended.since)
      returning held.day
    ), past as (
      insert into usage_days as stored (organisation_id, meter, day, used)
      select organisation_id, meter, ended.day, amount from ended, counted where ended.day < counted.day
      on conflict (organisation_id, meter, day) do update set used = stored.used + excluded.used
    )
    select count(*)::int as ended from ended`;
  return ended?.ended === 1;
}

async function release({ sql, now }: App, id: string): Promise<boolean> {
  const [ended] = await sql<{ ended: number }[]>`
    with ended as (
      update usage_holds set outcome = 'released'
      where id = ${id} and outcome is null and ends_at > ${now().toISOString()}
      returning organisation_id, meter, since, amount
    ), counted as (
      update usage as held set on_hold = held.on_hold - ended.amount from ended
      where (held.organisation_id, held.meter, held.since) = (ended.organisation_id, ended.meter, ended.since)
    )
    select count(*)::int as ended from ended`;
  return ended?.ended === 1;
}

/** Notices the holds of a meter whose end has passed. No answer counts them before that either. */
export async function expireHolds({ sql, now }: App, organisationId: string, meter: string): Promise<void> {
  await sql`
    with due as (
      select id from usage_holds
      where organisation_id = ${organisationId} and meter = ${meter} and outcome is null and ends_at <= ${now().toISOString()}
      order by id for update
    ), ended as (
      update usage_holds set outcome = 'expired' from due where usage_holds.id = due.id and outcome is null
      returning organisation_id, meter, since, amount
    )
    update usage as held set on_hold = held.on_hold - sums.amount
    from (select organisation_id, meter, since, sum(amount) as amount from ended group by 1, 2, 3) as sums
    where (held.organisation_id, held.meter, held.since) = (sums.organisation_id, sums.meter, sums.since)`;
}

const batchSize = 1000;

/** Notices all holds whose end has passed, and forgets those that ended more than 48 hours ago. */
export async function sweepHolds(app: App): Promise<void> {
  const { sql } = app;
  const now = app.now();
  for (;;) {
    const due = await sql<{ organisationId: string; meter: string }[]>`
      select distinct organisation_id as "organisationId", meter from usage_holds
      where outcome is null and ends_at <= ${now.toISOString()} limit ${batchSize}`;
    for (const { organisationId, meter } of due) await expireHolds(app, organisationId, meter);
    if (due.length < batchSize) break;
  }
  const isForgotten = lte(usageHolds.endsAt, new Date(idempotencyKeyCutoff(now)));
  await deleteInSteps(app.db, usageHolds, and(isForgotten, isNotNull(usageHolds.outcome)));
}
