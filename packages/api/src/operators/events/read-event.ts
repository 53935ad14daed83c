import { eq } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { Operator } from '../../auth/principal.ts';
import { handlerOf } from '../../billing/events/event-handlers.ts';
import { paymentEvents as event, paymentSubscriptions as subscription } from '../../platform/db/schema/billing.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { AppError } from '../../platform/errors.ts';
import { storableText } from '../../platform/security/text.ts';
import { nameOfPrice, readEventChange } from './event-change.ts';
import { ownerColumns, shownSubscription, subscriptionColumns } from './shown-subscription.ts';

export const eventInput = z.object({ event_id: storableText('Say which event.') });

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
      organisation: ownerColumns,
      subscription: subscriptionColumns,
    })
    .from(event)
    .leftJoin(organisations, eq(organisations.id, event.organisationId))
    .leftJoin(subscription, eq(subscription.id, event.subscriptionId))
    .where(eq(event.id, id));
  if (found === undefined) throw new AppError('NOT_FOUND', 'There is no such event.');

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
export function hideSecrets(payload: string): string {
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
