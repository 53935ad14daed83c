import { and, eq, sql } from 'drizzle-orm';
import type { App } from '../app.ts';
import { readPlan } from '../billing/entitlement/read-plan.ts';
import type { Executor } from '../db/client.ts';
import { usage } from '../db/schema/usage.ts';
import { AppError } from '../errors.ts';
import { limitReached } from './limit-reached.ts';
import { countsSince, meterOf } from './meter.ts';

type Request = { organisationId: string; meter: string; units?: number };

/**
 * Reserves units of a meter within the plan's limit, by one statement, so that concurrent
 * calls cannot exceed the limit. Usage that is above a lowered limit is kept. If the
 * transaction of `db` fails, nothing is reserved.
 *
 * @throws AppError VALIDATION if `units` is not a positive whole number; FORBIDDEN with a
 *   sentence that names the limit; Error for an unknown meter and for 'members'.
 */
export async function reserve(
  app: App,
  db: Executor,
  { organisationId, meter: name, units = 1 }: Request,
): Promise<void> {
  if (!Number.isSafeInteger(units) || units < 1) throw new AppError('VALIDATION', 'Take a whole number of units.');
  const meter = meterOf(app, name);
  if (name === 'members') throw new Error('Members are counted, not reserved: see member-room.ts.');
  const { plan } = await readPlan(app, organisationId, db);
  const limit = plan.limits[name] ?? null;

  const taken = await db
    .insert(usage)
    .select(
      sql`select ${organisationId}::uuid, ${name}::text, ${countsSince(meter, app.now()).toISOString()}::timestamptz, ${units}::bigint
        where ${limit}::bigint is null or ${units}::bigint <= ${limit}::bigint`,
    )
    .onConflictDoUpdate({
      target: [usage.organisationId, usage.meter, usage.since],
      set: { used: sql`${usage.used} + ${units}::bigint` },
      setWhere: sql`${limit}::bigint is null or ${usage.used} + ${units}::bigint <= ${limit}::bigint`,
    })
    .returning({ used: usage.used });
  if (taken.length === 0) throw limitReached(meter, plan, limit ?? 0);
}

/**
 * Releases units of a gauge, for example when a project is deleted. The usage never becomes
 * negative.
 *
 * @throws Error for an unknown meter and for a counter.
 */
export async function release(
  app: App,
  db: Executor,
  { organisationId, meter: name, units = 1 }: Request,
): Promise<void> {
  const meter = meterOf(app, name);
  if (meter.kind !== 'gauge') throw new Error(`${name} counts what was done, which cannot be given back.`);

  await db
    .update(usage)
    .set({ used: sql`greatest(${usage.used} - ${units}::bigint, 0)` })
    .where(
      and(
        eq(usage.organisationId, organisationId),
        eq(usage.meter, name),
        eq(usage.since, countsSince(meter, app.now())),
      ),
    );
}
