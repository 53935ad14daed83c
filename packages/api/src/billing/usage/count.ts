import type { App } from '../../app.ts';
import type { WritingKey } from '../../auth/principal.ts';
import { currentPlan, type OrganisationPlan, type PlanRow, readPlan } from '../../organisations/plan.ts';
import { AppError, isSqlState } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import { planOf, type Tier } from '../plans/plans.ts';
import { dayOf, type Meter, maxUsed, periodOf } from './meter.ts';
import { idempotencyKeyCutoff, maxNewKeys, tooManyKeys, type UsageRequest } from './usage-input.ts';

/** The organisation that a caller was authorised for. With `planRow` of the same request, no second query reads the plan. */
export type UsageTarget = { organisationId: string; planRow?: PlanRow | null };

/** The answer to a reservation or release. */
type CountResult = {
  granted: boolean;
  used: number;
  limit: number | null;
  tier: Tier;
  resetsAt: string | null;
};

const attempts = 5;

/** Whose key counts: one that the organisation's administrators made, one that an operator made for it, or the deployment's. */
export type KeyKind = 'administrators' | 'operator' | 'deployment';

export function keyKindOf({ key, organisation }: WritingKey): KeyKind {
  if (organisation === null) return 'deployment';
  return key.byOperator ? 'operator' : 'administrators';
}

/**
 * Adds to a meter, within the plan's limit, or subtracts from it (never below zero), and stores the
 * answer under the idempotency key: one statement, so that concurrent calls cannot exceed the
 * limit and a repeated key counts once. A repeated key gets the stored answer, refusals too.
 *
 * @throws AppError CONFLICT if the key was used with other content; TOO_MANY beyond the new keys of an hour; NOT_FOUND
 *   if the organisation was deleted meanwhile.
 */
export async function count(
  app: App,
  target: UsageTarget,
  operation: 'reserve' | 'release',
  meter: Meter,
  { amount, idempotency_key: key }: UsageRequest,
  by: KeyKind,
): Promise<CountResult> {
  const current = await planOfTarget(app, target);
  const content = `${operation} ${amount}`;

  for (let attempt = 1; ; attempt++) {
    try {
      const row = await run(app, target.organisationId, meter, current, { operation, amount, key, content, by });
      if (row === null) throw tooManyKeys(app.now());
      if (row.content !== content) throw new AppError('CONFLICT', 'This idempotency key was used for another request.');
      return {
        granted: row.granted,
        used: Number(row.used),
        limit: row.plan_limit === null ? null : Number(row.plan_limit),
        tier: row.tier ?? current.tier,
        resetsAt: row.resets_at === null ? null : new Date(row.resets_at).toISOString(),
      };
    } catch (error) {
      if (isSqlState(error, '23503')) throw new AppError('NOT_FOUND', message('no_such_organisation'));
      // The same key at the same time, or an expired key that is still stored: the transaction
      // counted nothing, and the next attempt finds the answer or a free key.
      if (attempt === attempts || !isSqlState(error, '23505', '40P01')) throw error;
      await app.sql`
        delete from usage_requests where organisation_id = ${target.organisationId} and meter = ${meter.meter}
          and key = ${key} and at <= ${idempotencyKeyCutoff(app.now())}`;
    }
  }
}

/** Returns the plan of the organisation, from the row that its authorisation read if it did. */
export function planOfTarget(
  app: App,
  { organisationId, planRow }: UsageTarget,
): OrganisationPlan | Promise<OrganisationPlan> {
  return planRow === undefined ? readPlan(app, organisationId) : currentPlan(app, planRow);
}

type CountedRow = {
  content: string;
  granted: boolean;
  used: string;
  tier: Tier | null;
  plan_limit: string | null;
  resets_at: string | null;
};

type CountRequest = { operation: 'reserve' | 'release'; amount: number; key: string; content: string; by: KeyKind };

async function run(
  app: App,
  organisationId: string,
  meter: Meter,
  current: OrganisationPlan,
  { operation, amount, key, content, by }: CountRequest,
): Promise<CountedRow | null> {
  const now = app.now();
  const { since, resetsAt } = periodOf(meter, current, now);
  const limit = current.plan.limits[meter.meter] ?? null;
  const delta = operation === 'reserve' ? amount : -amount;
  const { change, ownReserved } = changesOf(app, meter, { operation, amount, by });
  const isOwn = meter.kind === 'gauge' && by !== 'deployment';
  // A release always fits: it can bring a gauge that is above a lowered limit nearer to it.
  const most = operation === 'reserve' ? (limit ?? maxUsed) : maxUsed;
  const resets = resetsAt?.toISOString() ?? null;
  const setAt = meter.kind === 'gauge' ? now.toISOString() : null;

  // The stored key is read first, and the meter's row is locked before the key is inserted. The
  // update reads the newest version of the row, so `granted` and `used` are those of one moment.
  const [row] = await app.sql<CountedRow[]>`
    with known as materialized (
      select content, granted, used, tier, plan_limit, resets_at from usage_requests
      where organisation_id = ${organisationId} and meter = ${meter.meter} and key = ${key}
        and at > ${idempotencyKeyCutoff(now)}
    ), numbered as (
      insert into usage_key_counts as held (organisation_id, hour, keys)
      select ${organisationId}::uuid, date_trunc('hour', ${now.toISOString()}::timestamptz, 'UTC'), 1
      where not exists (select from known)
      on conflict (organisation_id) do update set
        keys = case when held.hour < excluded.hour then 1 else held.keys + 1 end,
        hour = greatest(held.hour, excluded.hour)
      where held.hour < excluded.hour or held.keys < ${maxNewKeys(app)}
      returning keys
    ), counted as (
      insert into usage as held (organisation_id, meter, since, used, day, day_used, granted, set_at, own_reserved)
      select ${organisationId}::uuid, ${meter.meter}::text, ${since.toISOString()}::timestamptz,
        greatest(asked.delta, 0) * asked.fits::int, ${dayOf(now)}::date, greatest(asked.delta, 0) * asked.fits::int,
        asked.fits, case when asked.fits then ${setAt}::timestamptz end,
        greatest(asked.delta, 0) * asked.fits::int * ${isOwn}::boolean::int
      from (select ${delta}::bigint as delta, ${delta}::bigint <= ${most}::bigint as fits) as asked
      where exists (select from numbered)
      on conflict (organisation_id, meter, since) do update set
        used = case when held.used + ${change} <= ${most}::bigint
          then greatest(held.used + ${change}, 0) else held.used end,
        granted = held.used + ${change} <= ${most}::bigint,
        own_reserved = case when held.used + ${change} <= ${most}::bigint then ${ownReserved} else held.own_reserved end,
        day_used = case when held.day >= excluded.day then held.day_used else 0 end
          + case when held.used + ${change} <= ${most}::bigint then ${change} else 0 end,
        day = greatest(held.day, excluded.day),
        set_at = case when held.used + ${change} <= ${most}::bigint
          then greatest(held.set_at, ${setAt}::timestamptz) else held.set_at end
      returning used, granted
    ), stored as (
      insert into usage_requests
        (organisation_id, meter, key, content, at, granted, used, tier, plan_limit, resets_at)
      select ${organisationId}::uuid, ${meter.meter}::text, ${key}::text, ${content}::text,
        ${now.toISOString()}::timestamptz, granted, used, ${current.tier}::text, ${limit}::bigint,
        ${resets}::timestamptz
      from counted
      returning content, granted, used, tier, plan_limit, resets_at
    )
    select * from known union all select * from stored`;
  return row ?? null;
}

/**
 * Returns by how much a request changes a meter, and what of it the organisation's own keys hold afterwards, as SQL over
 * the row that is stored.
 */
function changesOf(
  app: App,
  meter: Meter,
  { operation, amount, by }: Pick<CountRequest, 'operation' | 'amount' | 'by'>,
) {
  const { sql } = app;
  const kept = sql`held.own_reserved`;
  if (meter.kind !== 'gauge') {
    return { change: operation === 'reserve' ? sql`${amount}::bigint` : sql`${-amount}::bigint`, ownReserved: kept };
  }
  if (operation === 'reserve') {
    const ownReserved = by === 'deployment' ? kept : sql`held.own_reserved + ${amount}::bigint`;
    return { change: sql`${amount}::bigint`, ownReserved };
  }
  if (by === 'administrators') {
    const change = sql`-least(${amount}::bigint, held.own_reserved, held.used)`;
    return { change, ownReserved: sql`held.own_reserved - least(${amount}::bigint, held.own_reserved)` };
  }
  const left = sql`greatest(held.used - ${amount}::bigint, 0)`;
  const own = by === 'deployment' ? kept : sql`greatest(held.own_reserved - ${amount}::bigint, 0)`;
  return { change: sql`${-amount}::bigint`, ownReserved: sql`least(${own}, ${left})` };
}

/** Returns the plan of the tier that refused; null if the plans no longer hold it. */
export function refusingPlan(app: App, tier: Tier) {
  return app.plans.tiers.some((each) => each.tier === tier) ? planOf(app.plans, tier) : null;
}
