import { and, eq, inArray, isNull, type SQL, sql } from 'drizzle-orm';
import type { App } from '../../../app.ts';
import { stripEvents } from '../../../billing/events/strip-events.ts';
import type { Transaction } from '../../../platform/db/client.ts';
import { paymentEvents as event } from '../../../platform/db/schema/billing.ts';

const pageSize = 200;

/** The position of an event among those of its organisation. */
type EventPosition = { created: number; id: string };

type Page = {
  /** Null for the events of no organisation. */
  organisationId: string | null;
  /** Which events are stripped; all of them if absent. */
  which?: SQL;
  /** The last event of the page before. */
  after: EventPosition | null;
};

/**
 * Strips the events of one page that match, so that only what decides a subscription is left.
 * Returns the last event of the page; null after the last page.
 */
export async function eraseFromEvents(
  app: App,
  tx: Transaction,
  { organisationId, which, after }: Page,
): Promise<EventPosition | null> {
  const page = await tx
    .select({ id: event.id, created: event.created })
    .from(event)
    .where(
      and(
        organisationId === null ? isNull(event.organisationId) : eq(event.organisationId, organisationId),
        isNull(event.strippedAt),
        after === null ? undefined : sql`(${event.created}, ${event.id}) > (${after.created}, ${after.id})`,
      ),
    )
    .orderBy(event.created, event.id)
    .limit(pageSize);
  const ids = page.map(({ id }) => id);
  await stripEvents(app, tx, and(inArray(event.id, ids), which));
  return page.length < pageSize ? null : (page.at(-1) ?? null);
}
