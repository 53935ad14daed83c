import { dateOfSecond } from '../../durations.ts';
import { type Fields, idOf, seconds, textOf } from '../untrusted-json.ts';
import { type Ask, providerErrorOf } from './connection.ts';

/** An invoice of a subscription. `isFirst`: of the start of the subscription. */
export type Invoice = {
  id: string;
  status: string | null;
  page: string | null;
  isFirst: boolean;
  wasPaid: boolean;
};

type ProviderInvoice = {
  id: string;
  status: string | null;
  hosted_invoice_url?: string | null;
  billing_reason: string | null;
  amount_paid: number;
};

function invoiceOf({ id, status, hosted_invoice_url, billing_reason, amount_paid }: ProviderInvoice): Invoice {
  const isFirst = billing_reason === 'subscription_create';
  return {
    id,
    status,
    page: hosted_invoice_url || null,
    isFirst,
    wasPaid: amount_paid > 0,
  };
}

/** Returns a subscription's newest open invoices, at most ten. @throws AppError PROVIDER_UNAVAILABLE. */
export async function openInvoicesOf(ask: Ask, subscription: string): Promise<Invoice[]> {
  const { data } = await ask((provider) => provider.invoices.list({ subscription, status: 'open', limit: 10 }));
  return data.map(invoiceOf);
}

/** Returns a subscription's newest invoices, at most a hundred. @throws AppError PROVIDER_UNAVAILABLE. */
export async function invoicesOf(ask: Ask, subscription: string): Promise<Invoice[]> {
  const { data } = await ask((provider) => provider.invoices.list({ subscription, limit: 100 }));
  return data.map(invoiceOf);
}

/** Returns when a subscription's newest paid invoice was created, in seconds; null without one. @throws AppError PROVIDER_UNAVAILABLE. */
export async function newestPaidAt(ask: Ask, subscription: string): Promise<number | null> {
  const { data } = await ask((provider) => provider.invoices.list({ subscription, status: 'paid', limit: 1 }));
  return data[0]?.created ?? null;
}

/** Finalises a draft without a charge to the stored card. @throws AppError PROVIDER_UNAVAILABLE. */
export async function finaliseInvoice(ask: Ask, id: string): Promise<Invoice> {
  try {
    return invoiceOf(await ask((provider) => provider.invoices.finalizeInvoice(id, { auto_advance: false })));
  } catch (error) {
    // Another request or the provider has finalised the invoice meanwhile.
    if (providerErrorOf(error)?.status !== 400) throw error;
    return invoiceOf(await ask((provider) => provider.invoices.retrieve(id)));
  }
}

/**
 * Pays a subscription's newest invoice with the stored payment method, where it is open and is collected automatically:
 * paying an older one revives nothing. A payment that fails is told by its event.
 *
 * @throws AppError PROVIDER_UNAVAILABLE.
 */
export async function payNewestInvoice(ask: Ask, subscription: string): Promise<void> {
  const { data } = await ask((provider) => provider.invoices.list({ subscription, limit: 100 }));
  const newest = data.find(({ status }) => status !== 'void');
  if (newest?.status !== 'open' || newest.collection_method !== 'charge_automatically') return;
  try {
    await ask((provider) => provider.invoices.pay(newest.id));
  } catch (error) {
    // Declined, in need of authentication, or paid meanwhile.
    const status = providerErrorOf(error)?.status;
    if (status !== 400 && status !== 402) throw error;
  }
}

/** Whose invoice a payment paid. */
export type PaidInvoice = {
  invoiceId: string;
  /** The provider's second in which the invoice was created. */
  invoicedAt: number;
  customerId: string | null;
  subscriptionId: string | null;
};

/**
 * Returns the invoice that a payment paid; null if it paid none.
 *
 * @throws AppError PROVIDER_UNAVAILABLE.
 */
export async function invoiceOfPayment(ask: Ask, intent: string): Promise<PaidInvoice | null> {
  const payment = { type: 'payment_intent' as const, payment_intent: intent };
  const { data } = await ask((provider) => provider.invoicePayments.list({ payment, limit: 1 }));
  const invoiceId = idOf(data[0]?.invoice);
  if (invoiceId === null) return null;
  const invoice = await ask((provider) => provider.invoices.retrieve(invoiceId));
  const subscription = invoice.parent?.subscription_details?.subscription;
  const { created: invoicedAt, customer } = invoice;
  return { invoiceId, invoicedAt, customerId: idOf(customer), subscriptionId: idOf(subscription) };
}

/** An invoice as an event shows it. Amounts in the provider's minor units. */
export type InvoiceState = {
  status: string | null;
  amountDue: number | null;
  amountPaid: number | null;
  /** Three letters; null for anything else. */
  currency: string | null;
  page: string | null;
  nextAttemptAt: Date | null;
};

/** Reads an invoice tolerantly, as `readSubscriptionState` a subscription. */
export function readInvoiceState(object: object): InvoiceState {
  const invoice = object as Fields;
  const currency = textOf(invoice.currency);
  return {
    status: textOf(invoice.status),
    amountDue: seconds(invoice.amount_due),
    amountPaid: seconds(invoice.amount_paid),
    currency: currency !== null && /^[a-z]{3}$/i.test(currency) ? currency : null,
    page: addressOf(invoice.hosted_invoice_url),
    nextAttemptAt: dateOfSecond(seconds(invoice.next_payment_attempt)),
  };
}

/** The value if it is the address of a page, else null. */
export function addressOf(value: unknown): string | null {
  const address = textOf(value);
  return address !== null && /^https?:\/\//.test(address) ? address : null;
}
