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
 * Takes units of a meter within the plan's limit, by one statement: however many ask at
 * once, no more is ever given than the limit allows. What is already above a lower limit
 * stays. Within a transaction that fails, nothing was taken.
 *
 * @throws AppError FORBIDDEN with a sentence that names the limit.
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

/** Gives units of a standing meter back, as when a project is deleted. */
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
