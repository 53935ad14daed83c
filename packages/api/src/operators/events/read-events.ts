import { and, desc, eq, inArray, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { Operator } from '../../auth/principal.ts';
import { handlerOf } from '../../billing/events/event-handlers.ts';
import { nameColumns } from '../../organisations/account-status.ts';
import { paymentEvents as event, paymentSubscriptions as subscription } from '../../platform/db/schema/billing.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { AppError } from '../../platform/errors.ts';
import { message, zodMessage } from '../../platform/messages.ts';
import { pageOf } from '../../platform/security/keyset-pagination.ts';
import { beginningOf, freeLine, storableText } from '../../platform/security/text.ts';
import { contains } from '../search.ts';
import { nameOfPrice, readEventChange } from './event-change.ts';
import { shownSubscription, subscriptionColumns } from './shown-subscription.ts';

const rowsPerPage = 50;
/** A search by name shows the events of this many organisations at most. */
const maxOrganisations = 20;

export const eventsInput = z.object({
  search: freeLine(200).optional(),
  /** Whether to return only events that an operator should look at. */
  flagged: z.boolean({ error: 'This must be true or false.' }).optional(),
  /** `next` of the page before. */
  before: z.string(zodMessage('not_text')).optional(),
});

type Input = z.output<typeof eventsInput>;

/**
 * Returns a page of the event store, newest arrival first. A search finds events by the
 * beginning of their id or type, by the id of their customer, subscription or invoice, and by
 * the slug or name of their organisation.
 */
export async function readEvents(app: App, _operator: Operator, { search, flagged, before }: Input) {
  const which = and(flagged ? eq(event.flagged, true) : undefined, afterCursor(before));
  const rows = await app.db
    .select({
      id: event.id,
      type: event.type,
      receivedAt: event.receivedAt,
      number: event.number,
      outcome: event.outcome,
      flagged: event.flagged,
      organisation: nameColumns,
    })
    .from(event)
    .leftJoin(organisations, eq(organisations.id, event.organisationId))
    .where(search ? await matches(app, search, which) : which)
    .orderBy(desc(event.receivedAt), desc(event.number))
    .limit(rowsPerPage + 1);

  const { page, next } = pageOf(rows, rowsPerPage, ({ receivedAt, number }) => `${receivedAt.getTime()}-${number}`);
  return {
    events: page.map(({ receivedAt, number: _, ...row }) => ({ ...row, received_at: receivedAt.toISOString() })),
    next,
  };
}

/**
 * The condition that an event is among the newest ones that the search finds by one of its columns.
 * Each column is searched by its own index: together they would be searched by reading every event.
 */
async function matches(app: App, search: string, which: SQL | undefined): Promise<SQL> {
  const named = app.db
    .select({ id: organisations.id })
    .from(organisations)
    .where(await contains(app, search, { lower: [organisations.slug], mixed: [organisations.name] }))
    .limit(maxOrganisations);
  const conditions = [
    sql`${event.id} like ${beginningOf(search)}`,
    sql`${event.type} like ${beginningOf(search.toLowerCase())}`,
    eq(event.customerId, search),
    eq(event.subscriptionId, search),
    eq(event.invoiceId, search),
    inArray(event.organisationId, named),
  ];
  const found = conditions.map((condition) => {
    const newest = app.db.select({ id: event.id }).from(event).where(and(condition, which));
    return sql`(${newest.orderBy(desc(event.receivedAt), desc(event.number)).limit(rowsPerPage + 1)})`;
  });
  return sql`${event.id} in (${sql.join(found, sql` union all `)})`;
}

/** A malformed cursor is ignored: the list starts at the newest event. */
function afterCursor(before: string | undefined): SQL | undefined {
  const [, milliseconds, number] = /^(\d{1,14})-(\d{1,15})$/.exec(before ?? '') ?? [];
  if (milliseconds === undefined || number === undefined) return undefined;

  const receivedAt = new Date(Number(milliseconds)).toISOString();
  return sql`(${event.receivedAt}, ${event.number}) < (${receivedAt}::timestamptz, ${number}::bigint)`;
}

export const eventInput = z.object({ event_id: storableText(zodMessage('say_which_event')) });

/**
 * Returns an event with its payload, without the URLs of hosted pages, its outcome, and the
 * current record of its subscription.
 *
 * @throws AppError NOT_FOUND if there is no such event.
 */
export async function readEvent(app: App, _operator: Operator, { event_id: id }: z.output<typeof eventInput>) {
  const [found] = await app.db
    .select({
      event,
      organisation: nameColumns,
      subscription: subscriptionColumns,
    })
    .from(event)
    .leftJoin(organisations, eq(organisations.id, event.organisationId))
    .leftJoin(subscription, eq(subscription.id, event.subscriptionId))
    .where(eq(event.id, id));
  if (found === undefined) throw new AppError('NOT_FOUND', message('no_such_event'));

  const { payload, receivedAt, created, ...row } = found.event;
  return {
    id: row.id,
    type: row.type,
    created_at: new Date(created * 1000).toISOString(),
    received_at: receivedAt.toISOString(),
    customer: row.customerId,
    subscription: row.subscriptionId,
    invoice: row.invoiceId,
    organisation: found.organisation,
    handled: row.handled,
    outcome: row.outcome,
    flagged: row.flagged,
    effect: handlerOf(row.type),
    change: readEventChange(row.type, payload, nameOfPrice(app)),
    /** Null once it was dropped. */
    payload: payload && hideSecrets(payload),
    row: found.subscription && shownSubscription(app, found.subscription),
  };
}

/** Properties of the provider's objects that give access to a hosted page or a payment without a sign-in. */
const secrets = new Set(['hosted_invoice_url', 'invoice_pdf', 'receipt_url', 'client_secret']);

/**
 * Hides in an event's payload what opens a hosted page or a payment without a sign-in: it is for the
 * organisation's administrators only, and an operator may be a member or a viewer there. A payload
 * without such values is returned unchanged.
 */
function hideSecrets(payload: string): string {
  let hidden = false;

  function hide(name: string, value: unknown): unknown {
    if (!secrets.has(name) || typeof value !== 'string') return value;
    hidden = true;
    return '(hidden)';
  }

  try {
    const shown = JSON.stringify(JSON.parse(payload, hide), null, 2);
    return hidden ? shown : payload;
  } catch {
    return payload;
  }
}
