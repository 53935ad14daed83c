import { sql } from 'drizzle-orm';
import { type Executor, prepared } from '../../db/client.ts';
import { paymentEvents as event } from '../../db/schema/billing.ts';
import { fields } from './fields.ts';
import type { StateEvent } from './projection.ts';

/**
 * Reads the few events of a subscription that can affect its projection: the ended ones, those
 * of the newest second and, for a run of failed payments, those of the second before the run
 * and the run's first event. `parsed` is an event that was just stored, which is not parsed again.
 */
export async function readStateEvents(
  db: Executor,
  subscriptionId: string,
  settledNumber: number,
  parsed?: StateEvent,
): Promise<StateEvent[]> {
  const rows = await decidingEvents(db).execute({ subscriptionId, settledNumber });
  const distinct = new Map(rows.map((row) => [row.id, row])).values();
  return [...distinct].map(({ id, number, created, payload }) =>
    id === parsed?.id ? parsed : { id, number, created, ...readChange(payload) },
  );
}

function readChange(payload: string): Pick<StateEvent, 'object' | 'previous'> {
  const data = fields(fields(JSON.parse(payload))?.data);
  return { object: fields(data?.object) ?? {}, previous: fields(data?.previous_attributes) };
}

const ofSubscription = sql`${event.subscriptionId} = ${sql.placeholder('subscriptionId')} and ${event.statusClass} is not null`;

const newestSecond = sql`(select max(${event.created}) from ${event} where ${ofSubscription})`;

/** The newest second with an event that is neither past due nor ended; -1 if there is none. */
const brokenSecond = sql`(select coalesce(max(${event.created}), -1) from ${event} where ${ofSubscription} and ${event.statusClass} = 'other')`;

const decidingEvents = prepared((db) => {
  const columns = { id: event.id, number: event.number, created: event.created, payload: event.payload };
  const newest = db.select(columns).from(event).where(sql`${ofSubscription} and ${event.created} = ${newestSecond}`);
  const ended = db.select(columns).from(event).where(sql`${ofSubscription} and ${event.statusClass} = 'ended'`);
  const broken = db.select(columns).from(event).where(sql`${ofSubscription} and ${event.created} = ${brokenSecond}`);
  const firstPastDue = db
    .select(columns)
    .from(event)
    .where(
      sql`${ofSubscription} and ${event.statusClass} = 'past_due' and ${event.created} > ${brokenSecond}
        and ${event.number} > ${sql.placeholder('settledNumber')}`,
    )
    .orderBy(event.created, event.id)
    .limit(1);
  return newest.unionAll(ended).unionAll(broken).unionAll(firstPastDue).prepare('payment_events_deciding');
});
