import { inArray } from 'drizzle-orm';
import type { TransactionSql } from 'postgres';
import type { App } from '../../app.ts';
import { currentPlan } from '../../organisations/plan.ts';
import { organisationPlans } from '../../platform/db/schema/billing.ts';
import { AppError, invalid, isSqlState } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import { dayOf, type Meter, maxUsed, type Period, periodOf } from './meter.ts';
import { idempotencyKeyCutoff, maxNewKeys, tooManyKeys, type UsageRecord } from './usage-input.ts';

/** A record of an organisation that the caller was authorised for. */
export type OrganisationRecord = UsageRecord & { organisationId: string };

/** `place` is that of the record in the batch. */
type CheckedRecord = OrganisationRecord & { place: number; meterSettings: Meter; content: string; time: Date };

const attempts = 5;

/**
 * Counts a batch of records, also above the limits: all of them or none. A record whose
 * idempotency key was counted before with the same content is a duplicate, also within the
 * batch. A record of an earlier period or day counts in that day's history; only those of the
 * current period change what is used now.
 *
 * @throws AppError TOO_MANY beyond the new keys of an hour; VALIDATION with the field of an invalid record (`records.2.meter`); CONFLICT if a
 *   key was used with other content; NOT_FOUND if an organisation was deleted meanwhile.
 */
export async function report(
  app: App,
  records: OrganisationRecord[],
): Promise<{ accepted: number; duplicates: number }> {
  const now = app.now();
  const checked = records.map((record, at) => checkRecord(app, record, at, now));
  const unique = withoutRepeats(checked);
  const periods = await periodsOf(app, unique, now);

  for (let attempt = 1; ; attempt++) {
    try {
      const accepted = await app.sql.begin((tx) => store(app, tx, unique, periods, now));
      return { accepted, duplicates: records.length - accepted };
    } catch (error) {
      if (isSqlState(error, '23503')) throw new AppError('NOT_FOUND', message('no_such_organisation'));
      // A reservation with one of these keys locks in another order. Nothing was counted.
      if (attempt === attempts || !isSqlState(error, '40P01')) throw error;
    }
  }
}

function checkRecord(app: App, record: OrganisationRecord, at: number, now: Date): CheckedRecord {
  const meterSettings = app.plans.meters.find(({ meter }) => meter === record.meter);
  if (meterSettings === undefined) throw invalid({ [`records.${at}.meter`]: 'There is no such meter.' });
  if (meterSettings.kind === 'gauge')
    throw invalid({ [`records.${at}.meter`]: `${meterSettings.name} are a level: reserve, release or set it.` });

  const content = `report ${record.amount} ${record.at?.toISOString() ?? 'now'}`;
  return { ...record, place: at, meterSettings, content, time: record.at ?? now };
}

/** The records of a batch in the order in which their keys are locked, each key once. */
function withoutRepeats(records: CheckedRecord[]): CheckedRecord[] {
  const byKey = new Map<string, CheckedRecord>();
  for (const record of records) {
    const name = JSON.stringify([record.organisationId, record.meter, record.idempotency_key]);
    const first = byKey.get(name);
    if (first !== undefined && first.content !== record.content) throw conflict(record);
    if (first === undefined) byKey.set(name, record);
  }
  return [...byKey].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, record]) => record);
}

function conflict({ place }: CheckedRecord): AppError {
  const sentence = 'An idempotency key was used for another request.';
  return new AppError('CONFLICT', sentence, { fields: { [`records.${place}.idempotency_key`]: sentence } });
}

/** Returns a function that finds a record's period, if it is the current or the next one. */
async function periodsOf(app: App, records: CheckedRecord[], now: Date): Promise<(record: CheckedRecord) => Period> {
  const ids = records
    .filter(({ meterSettings }) => meterSettings.resets === 'subscription_period')
    .map((each) => each.organisationId);
  const rows =
    ids.length === 0
      ? []
      : await app.db
          .select()
          .from(organisationPlans)
          .where(inArray(organisationPlans.organisationId, [...new Set(ids)]));
  const plans = new Map(rows.map((row) => [row.organisationId, currentPlan(app, row)]));

  return ({ organisationId, meterSettings, time }) =>
    periodOf(meterSettings, plans.get(organisationId) ?? null, time > now ? time : now);
}

async function store(
  app: App,
  tx: TransactionSql,
  records: CheckedRecord[],
  periodFor: (record: CheckedRecord) => Period,
  now: Date,
): Promise<number> {
  const fresh = await storeKeys(tx, records, now);
  await countNewKeys(app, tx, fresh, now);
  await addToMeters(tx, fresh, periodFor, now);
  return fresh.length;
}

/** Stores the keys that were not used before, and returns their records. @throws AppError CONFLICT if a key was used with other content. */
async function storeKeys(tx: TransactionSql, records: CheckedRecord[], now: Date): Promise<CheckedRecord[]> {
  const given = JSON.stringify(
    records.map(({ organisationId, meter, idempotency_key: key, content }, place) => {
      return { place, organisation_id: organisationId, meter, key, content };
    }),
  );
  const columns = tx`(place int, organisation_id uuid, meter text, key text, content text)`;

  await tx`
    delete from usage_requests as stored using json_to_recordset(${given}::json) as given ${columns}
    where stored.organisation_id = given.organisation_id and stored.meter = given.meter and stored.key = given.key
      and stored.at <= ${idempotencyKeyCutoff(now)}`;
  const inserted = await tx<{ organisation_id: string; meter: string; key: string }[]>`
    insert into usage_requests (organisation_id, meter, key, content, at, granted, used)
    select organisation_id, meter, key, content, ${now.toISOString()}::timestamptz, true, 0
    from json_to_recordset(${given}::json) as given ${columns} order by place
    on conflict do nothing
    returning organisation_id, meter, key`;
  if (inserted.length === records.length) return records;

  const [other] = await tx<{ place: number }[]>`
    select given.place from usage_requests as stored join json_to_recordset(${given}::json) as given ${columns}
      using (organisation_id, meter, key)
    where stored.content <> given.content limit 1`;
  const conflicting = other && records[other.place];
  if (conflicting !== undefined) throw conflict(conflicting);
  const names = new Set(inserted.map(({ organisation_id: id, meter, key }) => JSON.stringify([id, meter, key])));
  return records.filter((each) => names.has(JSON.stringify([each.organisationId, each.meter, each.idempotency_key])));
}

/** Counts the new keys of each organisation. @throws AppError TOO_MANY beyond those of a clock hour. */
async function countNewKeys(app: App, tx: TransactionSql, fresh: CheckedRecord[], now: Date): Promise<void> {
  const given = JSON.stringify(fresh.map(({ organisationId }) => ({ organisation_id: organisationId })));
  const counted = await tx<{ keys: number }[]>`
    insert into usage_key_counts as held (organisation_id, hour, keys)
    select organisation_id, date_trunc('hour', ${now.toISOString()}::timestamptz, 'UTC'), count(*)
    from json_to_recordset(${given}::json) as given (organisation_id uuid) group by organisation_id order by organisation_id
    on conflict (organisation_id) do update set
      keys = case when held.hour < excluded.hour then excluded.keys else held.keys + excluded.keys end,
      hour = greatest(held.hour, excluded.hour)
    returning keys`;
  if (counted.some(({ keys }) => keys > maxNewKeys(app))) throw tooManyKeys(now);
}

/** Adds records to what is used in their period, and to the history of their day. */
async function addToMeters(
  tx: TransactionSql,
  records: CheckedRecord[],
  periodFor: (record: CheckedRecord) => Period,
  now: Date,
): Promise<void> {
  const today = dayOf(now);
  const given = JSON.stringify(
    records.map((record) => {
      const { since } = periodFor(record);
      const { organisationId, meter, amount, time } = record;
      const isCurrent = time >= since;
      const day = dayOf(time);
      return {
        organisation_id: organisationId,
        meter,
        since,
        amount,
        day,
        current: isCurrent,
        today: isCurrent && day === today,
      };
    }),
  );
  const columns = tx`(organisation_id uuid, meter text, since timestamptz, amount bigint, day date, current boolean, today boolean)`;

  const counted = await tx<{ used: string }[]>`
    insert into usage as held (organisation_id, meter, since, used, day, day_used)
    select organisation_id, meter, since, sum(amount), ${today}::date, coalesce(sum(amount) filter (where today), 0)
    from json_to_recordset(${given}::json) as given ${columns}
    where current group by organisation_id, meter, since order by organisation_id, meter, since
    on conflict (organisation_id, meter, since) do update set
      used = held.used + excluded.used,
      day_used = case when held.day >= excluded.day then held.day_used else 0 end + excluded.day_used,
      day = greatest(held.day, excluded.day)
    returning used + on_hold as used`;
  if (counted.some(({ used }) => Number(used) > maxUsed)) {
    throw invalid({ records: 'The use would exceed the largest whole number.' });
  }
  await tx`
    insert into usage_days as held (organisation_id, meter, day, used)
    select organisation_id, meter, day, sum(amount) from json_to_recordset(${given}::json) as given ${columns}
    where not today group by organisation_id, meter, day order by organisation_id, meter, day
    on conflict (organisation_id, meter, day) do update set used = held.used + excluded.used`;
}
