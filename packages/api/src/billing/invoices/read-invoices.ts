import { and, eq, getTableColumns, sql } from 'drizzle-orm';
import type { Administrator } from '../../auth/principal.ts';
import { prepared } from '../../platform/db/client.ts';
import {
  organisationPlans,
  paymentCustomers,
  paymentShownInvoices,
  paymentSubscriptions,
  type ShownInvoices,
} from '../../platform/db/schema/billing.ts';
import type { Ask } from '../../platform/providers/payment/connection.ts';
import { chargedMethod, customerInvoices, nextInvoice } from '../../platform/providers/payment/customer-invoices.ts';
import type { BillingApp } from '../actions/require-payment.ts';

/** What /billing shows administrators alone, because an invoice's addresses open without a sign-in. */
export type InvoicesSummary = {
  /** The last twelve, the newest first; null if the provider has never listed them. */
  invoices: ShownInvoices['invoices'] | null;
  /** Of the subscription that decides the plan; null if none follows. */
  next: ShownInvoices['next'];
  method: ShownInvoices['method'];
  /** When the provider last answered all of it; null if it never did. */
  as_of: string | null;
  /** False while the provider does not answer, so that what is shown may have changed since. */
  is_current: boolean;
};

const shownInvoices = 12;
const boundMilliseconds = 1000;
/** The provider limits requests, and a page may be loaded often. */
const pauseMilliseconds = 5000;

const reads = new Map<string, Promise<InvoicesSummary>>();

/**
 * Returns an organisation's invoices, the next one and the payment method, as the provider shows them within a second.
 * What it does not answer by then is what it last answered. Asks once in five seconds at most, unless the subscription
 * changed since (a checkout, a cancellation), and readers who come meanwhile wait for the same answers. Null for an
 * organisation without a customer at the provider.
 *
 * @throws AppError NO_ORGANISATION.
 */
export async function readInvoices(app: BillingApp, principal: Administrator): Promise<InvoicesSummary | null> {
  const { id: organisationId } = principal.requireOrganisation();
  const known = await readKnown(app, organisationId);
  if (known === null) return null;
  const { stored } = known;
  const isRecent = stored !== null && app.now().getTime() - stored.askedAt.getTime() < pauseMilliseconds;
  if (isRecent && stored.shown.version === known.version) return summaryOf(stored);

  const reading = reads.get(organisationId) ?? askAndStore(app, organisationId, known);
  reads.set(organisationId, reading);
  return reading.finally(() => reads.delete(organisationId));
}

type Stored = Pick<typeof paymentShownInvoices.$inferSelect, 'shown' | 'askedAt' | 'answeredAt'>;

type Known = { customerId: string; subscriptionId: string | null; version: number | null; stored: Stored | null };

/** Returns whom to ask about, and what is known; null without a customer. What was shown of an earlier one does not count. */
async function readKnown({ db }: BillingApp, organisationId: string): Promise<Known | null> {
  const [row] = await knownOf(db).execute({ organisationId });
  return row?.customerId == null ? null : { ...row, customerId: row.customerId };
}

const knownOf = prepared((db) => {
  const { shown, askedAt, answeredAt } = getTableColumns(paymentShownInvoices);
  return db
    .select({
      customerId: paymentCustomers.customerId,
      subscriptionId: paymentSubscriptions.id,
      version: paymentSubscriptions.version,
      stored: { shown, askedAt, answeredAt },
    })
    .from(paymentCustomers)
    .leftJoin(
      paymentShownInvoices,
      and(
        eq(paymentShownInvoices.organisationId, paymentCustomers.organisationId),
        eq(paymentShownInvoices.customerId, paymentCustomers.customerId),
      ),
    )
    .leftJoin(organisationPlans, eq(organisationPlans.organisationId, paymentCustomers.organisationId))
    .leftJoin(
      paymentSubscriptions,
      and(eq(paymentSubscriptions.id, organisationPlans.subscriptionId), eq(paymentSubscriptions.ended, false)),
    )
    .where(eq(paymentCustomers.organisationId, sql.placeholder('organisationId')))
    .prepare('shown_invoices');
});

async function askAndStore(app: BillingApp, organisationId: string, known: Known): Promise<InvoicesSummary> {
  const { customerId, subscriptionId, version, stored } = known;
  const limit = { deadline: performance.now() + boundMilliseconds };
  const ask: Ask = (call) => app.payment.askBriefly(call, limit);
  const answers = await Promise.allSettled([
    customerInvoices(ask, customerId),
    subscriptionId === null ? null : nextInvoice(ask, subscriptionId),
    chargedMethod(ask, { customer: customerId, subscription: subscriptionId }),
  ]);

  const [invoices, next, method] = answers;
  const shown = {
    ...stored?.shown,
    version,
    ...(invoices.status === 'fulfilled' && { invoices: invoices.value.slice(0, shownInvoices) }),
    ...(next.status === 'fulfilled' && { next: next.value }),
    ...(method.status === 'fulfilled' && { method: method.value }),
  };
  const failed = answers.find(({ status }) => status === 'rejected');
  if (failed !== undefined) {
    app.log.warn('The invoices could not be read from the payment provider; the last known ones are shown.', {
      organisationId,
      error: (failed as PromiseRejectedResult).reason,
    });
  }
  const askedAt = app.now();
  const columns = { customerId, shown, askedAt, answeredAt: failed ? (stored?.answeredAt ?? null) : askedAt };
  await app.db
    .insert(paymentShownInvoices)
    .values({ organisationId, ...columns })
    .onConflictDoUpdate({ target: paymentShownInvoices.organisationId, set: columns });
  return summaryOf(columns);
}

function summaryOf({ shown, askedAt, answeredAt }: Stored): InvoicesSummary {
  return {
    invoices: shown.invoices ?? null,
    next: shown.next ?? null,
    method: shown.method ?? null,
    as_of: answeredAt?.toISOString() ?? null,
    is_current: answeredAt !== null && answeredAt >= askedAt,
  };
}
