import { and, desc, eq, getTableColumns, isNull, or, sql } from 'drizzle-orm';
import { type Executor, prepared, type Transaction } from '../../platform/db/client.ts';
import { paymentInvoices as invoice, paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import type { EventReferences, PaymentEvent } from '../../platform/providers/payment/event.ts';
import { readInvoiceState } from '../../platform/providers/payment/invoices.ts';

type InvoiceEvent = { event: PaymentEvent; references: EventReferences; organisationId: string };

/**
 * Notes a payment problem of an invoice: the newest event about it says which. A settled invoice stays settled, in
 * whatever order the events come.
 */
export async function noteProblem(tx: Transaction, { event, references, organisationId }: InvoiceEvent): Promise<void> {
  const { type, object, created } = event;
  const shown = readInvoiceState(object);
  if (references.invoiceId === null) return;
  const noted = {
    subscriptionId: references.subscriptionId,
    problem: type === 'invoice.payment_action_required' ? ('action_required' as const) : ('payment_failed' as const),
    url: shown.page,
    amount: shown.amountDue,
    currency: shown.currency,
    nextAttemptAt: shown.nextAttemptAt,
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

/**
 * Settles the problems of a subscription's invoices after the newest invoice was paid: the plan no longer depends on them.
 * They stay settled while the next invoice is open. The caller has an answer of the provider that no event overtook.
 */
export async function settleEarlier(tx: Transaction, subscriptionId: string): Promise<void> {
  await tx
    .update(invoice)
    .set({ settled: true })
    .where(and(eq(invoice.subscriptionId, subscriptionId), eq(invoice.settled, false)));
}

export type PaymentProblem = typeof invoice.$inferSelect;

/**
 * Returns an organisation's newest payment problem of a subscription that has not ended; null if there is none. Without
 * the invoice's address and amount where another invoice may have to be paid, to which a checkout leads: an unpaid
 * subscription, and a past-due one with several, is reactivated by its newest one alone, and one whose debt was written
 * off by that one.
 */
export async function readPaymentProblem(db: Executor, organisationId: string): Promise<PaymentProblem | null> {
  const [found] = await openProblem(db).execute({ organisationId });
  if (found === undefined) return null;
  const { status, invoiceTrouble, hasSeveral } = found;
  const paysAnother = status === 'unpaid' || invoiceTrouble !== null || (status === 'past_due' && hasSeveral);
  return paysAnother ? { ...found.problem, url: null, amount: null } : found.problem;
}

/** Speed (design, "The serving process"): with that of the shown invoices it brings a third of GET /billing. */
const openProblem = prepared((db) =>
  db
    .select({
      problem: getTableColumns(invoice),
      status: paymentSubscriptions.status,
      invoiceTrouble: paymentSubscriptions.invoiceTrouble,
      hasSeveral: sql<boolean>`exists (select from ${invoice} as other
        where other.organisation_id = ${invoice.organisationId} and other.subscription_id = ${invoice.subscriptionId}
          and other.id <> ${invoice.id} and not other.settled)`,
    })
    .from(invoice)
    .leftJoin(paymentSubscriptions, eq(paymentSubscriptions.id, invoice.subscriptionId))
    .where(
      and(
        eq(invoice.organisationId, sql.placeholder('organisationId')),
        eq(invoice.settled, false),
        or(isNull(paymentSubscriptions.status), eq(paymentSubscriptions.ended, false)),
      ),
    )
    .orderBy(desc(invoice.notedAt), desc(invoice.id))
    .limit(1)
    .prepare('open_payment_problem'),
);
