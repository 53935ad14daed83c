import { eq } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { paymentEvents } from '../../platform/db/schema/billing.ts';
import { parsePayload, paymentOfEvent } from '../../platform/providers/payment/event.ts';
import { invoiceOfPayment } from '../../platform/providers/payment/invoices.ts';
import { requirePayment } from '../actions/require-payment.ts';
import { lockOwner } from './event-store.ts';
import { noteDispute } from './note-dispute.ts';

/**
 * Finds the organisation of a stored event about a dispute, a refund or an early fraud warning, and stores it with the
 * invoice. Such an event names its payment alone; the provider tells the invoice that was paid, and the invoice its
 * customer. An event of a payment that is not ours stays without an organisation. What a dispute does to the plan follows. May be
 * repeated.
 *
 * @throws AppError BILLING_UNAVAILABLE; PROVIDER_UNAVAILABLE: the queue repeats the job.
 */
export async function findOwner(app: App, eventId: string): Promise<void> {
  const { ask } = requirePayment(app);
  const [event] = await app.db.select().from(paymentEvents).where(eq(paymentEvents.id, eventId));
  const shown = event?.payload == null ? null : parsePayload(event.payload);
  const { intent } = shown === null ? { intent: null } : paymentOfEvent(shown);
  if (intent === null) return;

  const paid = await invoiceOfPayment(ask, intent);
  if (paid === null) return;
  const { invoiceId, customerId, subscriptionId } = paid;
  const organisationId = await app.db.transaction(async (tx) => {
    const owner = await lockOwner(tx, paid);
    const found = { organisationId: owner, invoiceId, customerId, subscriptionId };
    if (owner !== null) await tx.update(paymentEvents).set(found).where(eq(paymentEvents.id, eventId));
    return owner;
  });
  if (organisationId === null) return;
  if (event?.type.startsWith('charge.dispute.') && shown?.objectId != null && subscriptionId !== null)
    await noteDispute(app, shown.objectId, { organisationId, subscriptionId, invoicedAt: paid.invoicedAt });
}
