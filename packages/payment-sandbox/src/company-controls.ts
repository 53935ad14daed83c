import type Stripe from 'stripe';
import { closeDispute, type DisputeEnd, openDispute, submitEvidence } from './disputes/dispute.ts';
import { findDispute } from './disputes/disputes.ts';
import { warnOfFraud } from './disputes/fraud-warnings.ts';
import { addThinDestination } from './events/event-destinations.ts';
import { requireUnpaid } from './invoices/invoices.ts';
import { markUncollectible, voidInvoice } from './invoices/settle-invoice.ts';
import { chargeOf } from './payments/payment.ts';
import type { Provider } from './provider/provider.ts';
import type { Dispute, FraudWarning, Invoice, Refund, Subscription, SubscriptionSchedule } from './provider/records.ts';
import { failRefund, refundCharge } from './refunds/refund.ts';
import { findRefund } from './refunds/refunds.ts';
import { releaseSchedule } from './subscriptions/schedules/schedule.ts';
import { scheduleChange } from './subscriptions/schedules/schedule-change.ts';
import { findSchedule } from './subscriptions/schedules/subscription-schedules.ts';
import { findSubscription } from './subscriptions/subscriptions.ts';
import { updateSubscription } from './subscriptions/update-subscription.ts';
import { registerForTax } from './tax/tax-settings.ts';

/** What the company does in the provider's dashboard, and what banks do. Invoices are named by their id or URL. */
export interface CompanyControls {
  /** Refunds the payment of an invoice, by default all that is left. @throws Error if no charge paid it. */
  refund(invoice: string, options?: { amount?: number }): Refund;
  /** Lets a refund fail after all. */
  failRefund(refund: string): Refund;
  /**
   * Opens a dispute of the payment of an invoice; with `inquiry` the bank only asks.
   *
   * @throws Error if no charge paid it.
   */
  dispute(invoice: string, options?: { reason?: string; inquiry?: boolean }): Dispute;
  /** Submits evidence, so that the bank reviews the dispute. */
  submitEvidence(dispute: string): Dispute;
  closeDispute(dispute: string, end: DisputeEnd): Dispute;
  /** Tells that the bank suspects fraud in the payment of an invoice. @throws Error if no card paid it. */
  warnOfFraud(invoice: string): FraudWarning;
  /** Changes the price of a subscription at the end of its period, by a schedule. */
  scheduleChange(subscription: string, price: string): SubscriptionSchedule;
  /** Releases the schedule of a subscription. @throws Error if it has none. */
  releaseSchedule(subscription: string): void;
  /** Pauses the collection of a subscription's invoices; null ends the pause. */
  pauseCollection(subscription: string, behavior: 'keep_as_draft' | 'mark_uncollectible' | 'void' | null): Subscription;
  /** Sends a subscription's later invoices, to be paid within some days, in place of charging them. */
  sendInvoices(subscription: string, daysUntilDue: number): Subscription;
  /** Gives a subscription a discount by a coupon in place of those that it has; null takes them away. */
  discount(subscription: string, coupon: string | null): Subscription;
  /** Registers the account for tax in a country, where its invoices then have 20 % of it. */
  registerForTax(country: string): void;
  /** Adds an event destination with thin payloads. */
  addThinDestination(settings: { name: string; url: string }): Stripe.V2.Core.EventDestination;
  voidInvoice(invoice: string): Invoice;
  /** Writes off the debt of an invoice. */
  markUncollectible(invoice: string): Invoice;
}

/** Returns the controls. `saved` runs a change and stores the state, `find` returns an invoice by its id or URL. */
export function companyControls(
  provider: Provider,
  saved: <T>(work: () => T) => T,
  find: (invoice: string) => Invoice,
): CompanyControls {
  return {
    refund: (invoice, options) => saved(() => refundCharge(provider, chargeOf(provider, find(invoice)), options)),
    failRefund: (refund) => saved(() => failRefund(provider, findRefund(provider, refund))),
    dispute: (invoice, options) => saved(() => openDispute(provider, chargeOf(provider, find(invoice)), options)),
    submitEvidence: (dispute) => saved(() => submitEvidence(provider, findDispute(provider, dispute))),
    closeDispute: (dispute, end) => saved(() => closeDispute(provider, findDispute(provider, dispute), end)),
    warnOfFraud: (invoice) => saved(() => warnOfFraud(provider, chargeOf(provider, find(invoice)))),
    scheduleChange: (subscription, price) =>
      saved(() => scheduleChange(provider, findSubscription(provider, subscription), price)),
    releaseSchedule: (subscription) =>
      saved(() => {
        const { schedule } = findSubscription(provider, subscription);
        releaseSchedule(provider, findSchedule(provider, schedule ?? ''));
      }),
    pauseCollection: (subscription, behavior) =>
      saved(() =>
        updateSubscription(provider, findSubscription(provider, subscription), {
          pause_collection: behavior === null ? '' : { behavior },
        }),
      ),
    sendInvoices: (subscription, daysUntilDue) =>
      saved(() =>
        updateSubscription(provider, findSubscription(provider, subscription), {
          collection_method: 'send_invoice',
          days_until_due: daysUntilDue,
        }),
      ),
    discount: (subscription, coupon) =>
      saved(() =>
        updateSubscription(provider, findSubscription(provider, subscription), {
          discounts: coupon === null ? '' : [{ coupon }],
        }),
      ),
    addThinDestination: (settings) => saved(() => addThinDestination(provider, settings)),
    registerForTax: (country) => saved(() => registerForTax(provider, country)),
    voidInvoice: (invoice) =>
      saved(() => {
        const open = requireUnpaid(provider, find(invoice).id, 'void');
        voidInvoice(provider, open);
        return open;
      }),
    markUncollectible: (invoice) =>
      saved(() => {
        const open = requireUnpaid(provider, find(invoice).id, 'mark as uncollectible');
        markUncollectible(provider, open);
        return open;
      }),
  };
}
