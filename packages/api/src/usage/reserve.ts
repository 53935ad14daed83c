import { and, eq, sql } from 'drizzle-orm';
import type { App } from '../app.ts';
import { lockOrganisation } from '../billing/lock-organisation.ts';
import type { Plan } from '../billing/plans.ts';
import { readPlan } from '../billing/read-plan.ts';
import type { Executor, Transaction } from '../db/client.ts';
import { memberships, usage } from '../db/schema.ts';
import { Refusal } from '../errors.ts';
import { countsSince, type Meter, meterOf } from './meter.ts';

type Request = { organisationId: string; meter: string; units?: number };

/**
 * Takes units of a meter within the plan's limit, by one statement: however many ask at
 * once, no more is ever given than the limit allows. What is already above a lower limit
 * stays. Within a transaction that fails, nothing was taken.
 *
 * @throws Refusal FORBIDDEN with a sentence that names the limit.
 */
export async function reserve(
  app: App,
  db: Executor,
  { organisationId, meter: name, units = 1 }: Request,
): Promise<void> {
  if (!Number.isSafeInteger(units) || units < 1) throw new Refusal('VALIDATION', 'Take a whole number of units.');
  const meter = meterOf(app, name);
  if (name === 'members') throw new Error('Members are counted, not reserved: see requireRoomForMember.');
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
  if (meter.kind !== 'standing') throw new Error(`${name} counts what was done, which cannot be given back.`);

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

/**
 * Makes sure that one more may join, and keeps it so until the transaction ends: others
 * who would join the organisation wait. Memberships themselves are the meter.
 *
 * @throws Refusal FORBIDDEN with a sentence that names the limit.
 */
export async function requireRoomForMember(app: App, tx: Transaction, organisationId: string): Promise<void> {
  const meter = app.plans.meters.find((each) => each.meter === 'members');
  if (meter === undefined) return;

  await lockOrganisation(tx, organisationId);
  const { plan } = await readPlan(app, organisationId, tx);
  const limit = plan.limits.members ?? null;
  const members = await tx.$count(memberships, eq(memberships.organisationId, organisationId));
  if (limit !== null && members >= limit) throw limitReached(meter, plan, limit);
}

function limitReached({ name, kind }: Meter, plan: Plan, limit: number): Refusal {
  const amount = limit.toLocaleString('en-GB');
  const period = kind === 'counting' ? ' a month' : '';
  return new Refusal('FORBIDDEN', `The ${plan.name} plan allows ${amount} ${plural(name, limit)}${period}.`);
}

/** "API calls" stays as it is, "Members" becomes "members", and one of them is one. */
function plural(name: string, limit: number): string {
  const word = /^[A-Z][a-z]/.test(name) ? name.charAt(0).toLowerCase() + name.slice(1) : name;
  return limit === 1 ? word.replace(/s$/, '') : word;
}
