import { and, eq, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { type Actor, recordAudit } from '../../audit/record.ts';
import { readPlan } from '../../organisations/plan.ts';
import { usage } from '../../platform/db/schema/usage.ts';
import { invalid } from '../../platform/errors.ts';
import { dayOf, maxUsed, meterInBody, periodOf } from './meter.ts';

type Correction = { organisationId: string; meter: string; used: number; reason: string };

/**
 * States what is final of an organisation's use of a meter in the current period, on an operator's word, also above the
 * limit; open holds come on top. The history of past days stays. Records who did, and why.
 *
 * @returns the value before.
 * @throws AppError VALIDATION for an unknown meter, for members, which are counted, and for a value that is no whole
 *   number from 0 to 2^53 − 1; NOT_FOUND if the organisation was deleted meanwhile.
 */
export async function correctUsage(
  app: App,
  { organisationId, meter: name, used, reason }: Correction,
  actor: Actor,
): Promise<number> {
  const meter = meterInBody(app, name);
  if (name === 'members') throw invalid({ meter: 'Members are counted by this service.' });
  if (!Number.isInteger(used) || used < 0 || used > maxUsed) {
    throw invalid({ used: `The value must be a whole number from 0 to ${maxUsed}.` });
  }
  const now = app.now();
  const { since } = periodOf(meter, await readPlan(app, organisationId), now);
  const isStored = and(eq(usage.organisationId, organisationId), eq(usage.meter, name), eq(usage.since, since));

  return app.db.transaction(async (tx) => {
    const day = dayOf(now);
    await tx.insert(usage).values({ organisationId, meter: name, since, used: 0, day }).onConflictDoNothing();
    const [held = { used: 0, ownReserved: 0 }] = await tx.select().from(usage).where(isStored).for('update');
    const isGauge = meter.kind === 'gauge';
    const ownReserved = Math.min(held.ownReserved, used);
    // The value of a gauge's ended day goes to its history; a counter's days have what was counted on them.
    const today = isGauge ? { day: sql`greatest(${usage.day}, ${day}::date)` } : {};
    await tx
      .update(usage)
      .set({ used, ownReserved, setAt: isGauge ? now : null, ...today })
      .where(isStored);
    const details = { meter: name, from: String(held.used), to: String(used), reason };
    await recordAudit(tx, now, { action: 'usage-corrected', ...actor, organisationId, details });
    return held.used;
  });
}
