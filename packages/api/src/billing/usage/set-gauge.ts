import type { App } from '../../app.ts';
import { AppError, invalid, isSqlState } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import { planOfTarget, type UsageTarget } from './count.ts';
import { expireHolds } from './holds.ts';
import { dayOf, maxUsed, meterInPath } from './meter.ts';
import type { GaugeValue } from './usage-input.ts';

/**
 * Sets what is final of a gauge to its true value, also above the limit; open holds come on top. A value with a time (`at`) before the last change, also
 * by a reservation or a release, changes nothing: the answer holds the value that stays, and `superseded`, because a
 * caller whose clock is slow would otherwise never learn that none of its values count.
 *
 * @throws AppError NOT_FOUND for an unknown meter, or if the organisation was deleted meanwhile; VALIDATION for a
 *   counter, for members, and above 2^53 − 1 with the holds.
 */
export async function setGauge(
  app: App,
  target: UsageTarget,
  name: string,
  { used, at }: GaugeValue,
): Promise<{ meter: string; used: number; limit: number | null; superseded?: true }> {
  const meter = meterInPath(app, name);
  if (meter.kind !== 'gauge') throw invalid({ meter: `${meter.name} are counted: report them.` });
  if (name === 'members') throw invalid({ meter: 'Members are counted by this service.' });
  const { plan } = await planOfTarget(app, target);
  const value = { used, at: at ?? app.now(), canLose: at !== undefined };
  const held = await store(app, target.organisationId, name, value);

  const answer = { meter: name, used: held.used, limit: plan.limits[name] ?? null };
  return held.isSuperseded ? { ...answer, superseded: true } : answer;
}

type Value = {
  used: number;
  at: Date;
  /** Whether a later change outranks it. A value without a time is the present one, whatever the nodes' clocks show. */
  canLose: boolean;
};

async function store(
  app: App,
  organisationId: string,
  meter: string,
  { used, at, canLose }: Value,
): Promise<{ used: number; isSuperseded: boolean }> {
  try {
    await expireHolds(app, organisationId, meter);
    // A refused reservation or a hold may have begun a later day since `at`: the days in between hold the value too.
    const [row] = await app.sql<{ used: string; isSuperseded: boolean }[]>`
      with stored as (
        insert into usage as held (organisation_id, meter, since, used, day, set_at)
        values (${organisationId}, ${meter}, 'epoch', ${used}, ${dayOf(at)}, ${at.toISOString()})
        on conflict (organisation_id, meter, since) do update set
          used = case when ${canLose} and held.set_at > excluded.set_at then held.used else excluded.used end,
          own_reserved = case when ${canLose} and held.set_at > excluded.set_at then held.own_reserved
            else least(held.own_reserved, excluded.used) end,
          day = case when ${canLose} and held.set_at > excluded.set_at then held.day else greatest(held.day, excluded.day) end,
          set_at = greatest(held.set_at, excluded.set_at)
        where excluded.used + held.on_hold <= ${maxUsed}::bigint
        returning used, on_hold, day, ${canLose} and set_at > ${at.toISOString()} as superseded
      ), ended as (
        insert into usage_days (organisation_id, meter, day, used)
        select ${organisationId}, ${meter}, ${dayOf(at)}::date + later, used
        from stored, generate_series(0, day - ${dayOf(at)}::date - 1) as later where not superseded
        on conflict (organisation_id, meter, day) do update set used = excluded.used
      )
      select used + on_hold as used, superseded as "isSuperseded" from stored`;
    if (row === undefined) throw invalid({ used: 'The use would exceed the largest whole number.' });
    return { used: Number(row.used), isSuperseded: row.isSuperseded };
  } catch (error) {
    if (isSqlState(error, '23503')) throw new AppError('NOT_FOUND', message('no_such_organisation'));
    throw error;
  }
}
