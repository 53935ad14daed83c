import type { Sql, TransactionSql } from 'postgres';
import type { App } from '../../app.ts';
import type { WritingKey } from '../../auth/principal.ts';
import { currentPlan, type OrganisationPlan, type PlanRow, readPlan } from '../../organisations/plan.ts';
import { newId } from '../../platform/db/id.ts';
import { AppError, isSqlState } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import type { Tier } from '../plans/plans.ts';
import { expireHolds } from './holds.ts';
import { dayOf, type Meter, maxUsed, periodOf } from './meter.ts';
import {
  idempotencyKeyCutoff,
  maxNewKeys,
  maxOpenHolds,
  type Reservation,
  tooManyHolds,
  tooManyKeys,
} from './usage-input.ts';

/** The organisation that a caller was authorised for. With `planRow` of the same request, no second query reads the plan. */
export type UsageTarget = { organisationId: string; planRow?: PlanRow | null };

/** The answer to a reservation or release. */
type CountResult = {
  granted: boolean;
  used: number;
  limit: number | null;
  tier: Tier;
  resetsAt: string | null;
  /** The hold that a reservation with an end made; null without an end, and where it was refused. */
  hold: string | null;
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
 * limit and a repeated key counts once. A repeated key gets the stored answer, refusals too. A reservation that
 * `expires` is a hold.
 *
 * @throws AppError CONFLICT if the key was used with other content; TOO_MANY beyond the new keys of an hour or the open
 *   holds; NOT_FOUND if the organisation was deleted meanwhile.
 */
export async function count(
  app: App,
  target: UsageTarget,
  operation: 'reserve' | 'release',
  meter: Meter,
  { amount, idempotency_key: key, expires }: Reservation,
  by: KeyKind,
): Promise<CountResult> {
  const current = await planOfTarget(app, target);
  const content = expires === undefined ? `${operation} ${amount}` : `${operation} ${amount} for ${expires}`;
  const request = { operation, amount, key, content, by, expires };

  for (let attempt = 1; ; attempt++) {
    try {
      const row =
        expires === undefined
          ? await run(app, app.sql, target.organisationId, meter, current, request)
          : await runHold(app, target.organisationId, meter, current, request);
      if (row.expired) {
        await expireHolds(app, target.organisationId, meter.meter);
        continue;
      }
      if (row.open_holds >= maxOpenHolds(app) && row.content === null) throw tooManyHolds();
      if (row.content === null) throw tooManyKeys(app.now());
      if (row.content !== content) throw new AppError('CONFLICT', 'This idempotency key was used for another request.');
      return {
        granted: row.granted,
        used: Number(row.used),
        limit: row.plan_limit === null ? null : Number(row.plan_limit),
        tier: row.tier ?? current.tier,
        resetsAt: row.resets_at === null ? null : new Date(row.resets_at).toISOString(),
        hold: row.hold,
      };
    } catch (error) {
      if (isSqlState(error, '23503')) throw new AppError('NOT_FOUND', message('no_such_organisation'));
      // The same key at the same time, or an expired key that is still stored: the transaction
      // counted nothing, and the next attempt finds the answer or a free key.
      if (attempt >= attempts || !isSqlState(error, '23505', '40P01')) throw error;
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

/** The answer that is stored under the key. Its content is null where nothing was counted: `expired`, or too many of something. */
type CountedRow = {
  content: string | null;
  granted: boolean;
  used: string;
  tier: Tier | null;
  plan_limit: string | null;
  resets_at: string | null;
  hold: string | null;
  /** Whether a hold of the meter has expired and is not noticed yet. It leaves the meter first. */
  expired: boolean;
  open_holds: number;
};

type CountRequest = {
  operation: 'reserve' | 'release';
  amount: number;
  key: string;
  content: string;
  by: KeyKind;
  expires: number | undefined;
};

/** Makes holds of an organisation one after the other, so that each sees how many are open. */
function runHold(
  app: App,
  organisationId: string,
  meter: Meter,
  current: OrganisationPlan,
  request: CountRequest,
): Promise<CountedRow> {
  return app.sql.begin(async (tx) => {
    await tx`select from usage_key_counts where organisation_id = ${organisationId} for update`;
    return run(app, tx, organisationId, meter, current, request);
  });
}

async function run(
  app: App,
  sql: Sql | TransactionSql,
  organisationId: string,
  meter: Meter,
  current: OrganisationPlan,
  request: CountRequest,
): Promise<CountedRow> {
  const { operation, amount, key, content, expires } = request;
  const now = app.now();
  const { since, resetsAt } = periodOf(meter, current, now);
  const limit = current.plan.limits[meter.meter] ?? null;
  const isHold = expires !== undefined;
  const hold = isHold ? { id: newId(now), endsAt: new Date(now.getTime() + expires * 1000).toISOString() } : null;
  const delta = operation === 'reserve' ? amount : -amount;
  const { change, ownReserved } = changesOf(sql, meter, request);
  const isOwn = request.by !== 'deployment';
  // A release always fits: it can bring a gauge that is above a lowered limit nearer to it.
  const most = operation === 'reserve' ? (limit ?? maxUsed) : maxUsed;
  const fits = sql`held.used + held.on_hold + ${change} <= ${most}::bigint`;
  const resets = resetsAt?.toISOString() ?? null;
  const setAt = meter.kind === 'gauge' && !isHold ? now.toISOString() : null;

  // The stored key is read first, and the meter's row is locked before the key is inserted. The
  // update reads the newest version of the row, so `granted` and `used` are those of one moment.
  const [row] = await sql<[CountedRow]>`
    with known as materialized (
      select content, granted, used, tier, plan_limit, resets_at, hold from usage_requests
      where organisation_id = ${organisationId} and meter = ${meter.meter} and key = ${key}
        and at > ${idempotencyKeyCutoff(now)}
    ), holds as materialized (
      select not exists (select from known) and exists (
        select from usage_holds where organisation_id = ${organisationId} and meter = ${meter.meter}
          and outcome is null and ends_at <= ${now.toISOString()}
      ) as expired, ${isHold ? openHolds(sql, organisationId, now, maxOpenHolds(app)) : sql`0`} as open_holds
    ), numbered as (
      insert into usage_key_counts as held (organisation_id, hour, keys)
      select ${organisationId}::uuid, date_trunc('hour', ${now.toISOString()}::timestamptz, 'UTC'), 1
      from holds where not exists (select from known) and not expired and open_holds < ${maxOpenHolds(app)}
      on conflict (organisation_id) do update set
        keys = case when held.hour < excluded.hour then 1 else held.keys + 1 end,
        hour = greatest(held.hour, excluded.hour)
      where held.hour < excluded.hour or held.keys < ${maxNewKeys(app)}
      returning keys
    ), counted as (
      insert into usage as held
        (organisation_id, meter, since, used, on_hold, day, day_used, granted, set_at, own_reserved)
      select ${organisationId}::uuid, ${meter.meter}::text, ${since.toISOString()}::timestamptz,
        asked.final, asked.amount - asked.final, ${dayOf(now)}::date, asked.final, asked.fits,
        case when asked.fits then ${setAt}::timestamptz end,
        asked.final * ${isOwn && meter.kind === 'gauge'}::boolean::int
      from (
        select fits, amount * fits::int as amount, amount * fits::int * ${!isHold}::boolean::int as final
        from (select greatest(${delta}::bigint, 0) as amount, ${delta}::bigint <= ${most}::bigint as fits) as given
      ) as asked
      where exists (select from numbered)
      on conflict (organisation_id, meter, since) do update set
        used = case when ${fits} and not ${isHold}::boolean
          then greatest(held.used + ${change}, 0) else held.used end,
        on_hold = case when ${fits} and ${isHold}::boolean then held.on_hold + ${change} else held.on_hold end,
        granted = ${fits},
        own_reserved = case when ${fits} then ${ownReserved} else held.own_reserved end,
        day_used = case when held.day >= excluded.day then held.day_used else 0 end
          + case when ${fits} and not ${isHold}::boolean then ${change} else 0 end,
        day = greatest(held.day, excluded.day),
        set_at = case when ${fits} then greatest(held.set_at, ${setAt}::timestamptz) else held.set_at end
      returning used + on_hold as used, granted, day
    ), made as (
      insert into usage_holds (id, organisation_id, meter, since, day, amount, is_own, ends_at)
      select ${hold?.id ?? null}::uuid, ${organisationId}::uuid, ${meter.meter}::text, ${since.toISOString()}::timestamptz,
        day, ${amount}::bigint, ${isOwn}::boolean, ${hold?.endsAt ?? null}::timestamptz
      from counted where granted and ${isHold}::boolean
      returning id
    ), stored as (
      insert into usage_requests
        (organisation_id, meter, key, content, at, granted, used, tier, plan_limit, resets_at, hold)
      select ${organisationId}::uuid, ${meter.meter}::text, ${key}::text, ${content}::text,
        ${now.toISOString()}::timestamptz, granted, used, ${current.tier}::text, ${limit}::bigint,
        ${resets}::timestamptz, (select id from made)
      from counted
      returning content, granted, used, tier, plan_limit, resets_at, hold
    )
    select answer.*, expired, open_holds::int from holds
    left join (select * from known union all select * from stored) as answer on true`;
  return row;
}

/** How many holds of an organisation are open, as SQL. Counts no further than to the most that may be. */
function openHolds(sql: Sql | TransactionSql, organisationId: string, now: Date, most: number) {
  return sql`(select count(*) from (
    select from usage_holds where organisation_id = ${organisationId} and outcome is null and ends_at > ${now.toISOString()}
    limit ${most}) as open)`;
}

/**
 * Returns by how much a request changes a meter, and what of it the organisation's own keys reserved and did not release
 * afterwards, as SQL over the row that is stored. What a hold reserves is theirs once it is committed.
 */
function changesOf(
  sql: Sql | TransactionSql,
  meter: Meter,
  { operation, amount, by, expires }: Pick<CountRequest, 'operation' | 'amount' | 'by' | 'expires'>,
) {
  const kept = sql`held.own_reserved`;
  if (operation === 'reserve') {
    const isCounted = meter.kind === 'gauge' && by !== 'deployment' && expires === undefined;
    return {
      change: sql`${amount}::bigint`,
      ownReserved: isCounted ? sql`held.own_reserved + ${amount}::bigint` : kept,
    };
  }
  if (by === 'administrators') {
    const change = sql`-least(${amount}::bigint, held.own_reserved, held.used)`;
    return { change, ownReserved: sql`held.own_reserved - least(${amount}::bigint, held.own_reserved)` };
  }
  const left = sql`greatest(held.used - ${amount}::bigint, 0)`;
  const own = by === 'deployment' ? kept : sql`greatest(held.own_reserved - ${amount}::bigint, 0)`;
  return { change: sql`${-amount}::bigint`, ownReserved: sql`least(${own}, ${left})` };
}
