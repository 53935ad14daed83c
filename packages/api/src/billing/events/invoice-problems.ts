import { and, desc, eq, isNull, or, sql } from 'drizzle-orm';
import type { Executor, Transaction } from '../../platform/db/client.ts';
import { paymentInvoices as invoice, paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { seconds, textOf, toDate } from '../../platform/providers/untrusted-json.ts';
import type { EventReferences, PaymentEvent } from '../subscription/provider-objects.ts';

type InvoiceEvent = { event: PaymentEvent; references: EventReferences; organisationId: string };

/**
 * Notes a payment problem of an invoice: the newest event about it says which. A settled invoice stays settled, in
 * whatever order the events come.
 */
export async function noteProblem(tx: Transaction, { event, references, organisationId }: InvoiceEvent): Promise<void> {
  const { type, object, created } = event;
  if (references.invoiceId === null) return;
  const noted = {
    subscriptionId: references.subscriptionId,
    problem: type === 'invoice.payment_action_required' ? ('action_required' as const) : ('payment_failed' as const),
    url: webAddress(textOf(object.hosted_invoice_url)),
    amount: typeof object.amount_due === 'number' ? object.amount_due : null,
    currency: textOf(object.currency),
    nextAttemptAt: toDate(seconds(object.next_payment_attempt)),
    notedAt: created,
  };
  await tx
    .insert(invoice)
    .values({ id: references.invoiceId, organisationId, ...noted })
    .onConflictDoUpdate({
      target: invoice.id,
      set: noted,
      setWhere: sql`${invoice.notedAt} <= excluded.noted_at`,
    });
}

/** Settles an invoice: it is paid, voided or written off. Also stored of one without a problem, which may come late. */
export async function settleInvoice(
  tx: Transaction,
  { event, references, organisationId }: InvoiceEvent,
): Promise<void> {
  if (references.invoiceId === null) return;
  const settled = { settled: true, notedAt: event.created };
  await tx
    .insert(invoice)
    .values({ id: references.invoiceId, organisationId, subscriptionId: references.subscriptionId, ...settled })
    .onConflictDoUpdate({ target: invoice.id, set: settled });
}

function webAddress(value: string | null): string | null {
  return value !== null && /^https?:\/\//.test(value) ? value : null;
}

export type PaymentProblem = Pick<typeof invoice.$inferSelect, 'problem' | 'url'>;

/** Returns an organisation's newest payment problem of a subscription that has not ended; null if there is none. */
export async function readPaymentProblem(db: Executor, organisationId: string): Promise<PaymentProblem | null> {
  const [found] = await db
    .select({ problem: invoice.problem, url: invoice.url })
    .from(invoice)
    .leftJoin(paymentSubscriptions, eq(paymentSubscriptions.id, invoice.subscriptionId))
    .where(
      and(
        eq(invoice.organisationId, organisationId),
        eq(invoice.settled, false),
        or(isNull(paymentSubscriptions.id), eq(paymentSubscriptions.ended, false)),
      ),
    )
    .orderBy(desc(invoice.notedAt), desc(invoice.id))
    .limit(1);
  return found ?? null;
}
