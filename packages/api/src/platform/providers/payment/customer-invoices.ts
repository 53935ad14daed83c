import { dateOfSecond } from '../../durations.ts';
import { fields, seconds, textOf } from '../untrusted-json.ts';
import { type Ask, providerErrorOf } from './connection.ts';
import { addressOf, readInvoiceState } from './invoices.ts';
import { methodName } from './subscription-details.ts';

/** An invoice as its customer sees it. Times in ISO 8601, amounts in minor units. */
export type CustomerInvoice = {
  id: string;
  number: string | null;
  at: string | null;
  amount: number;
  currency: string;
  /** The provider's status: open, paid, void, uncollectible, or one that is new. */
  state: string;
  /** When one that is sent has to be paid; null for one that is charged. */
  due: string | null;
  /** Both addresses open without a sign-in, and the page pays the invoice. */
  page: string | null;
  pdf: string | null;
};

export type NextInvoice = Pick<CustomerInvoice, 'at' | 'amount' | 'currency' | 'due'>;

/** A payment method such as "visa 4242"; `expires` is the last month of a card, as 2030-04. */
export type ChargedMethod = { name: string; expires: string | null };

/** As many as a customer is shown, and some drafts between them. */
const asked = 24;

/**
 * Returns a customer's invoices that are finalised, the newest first, at most 24. A draft is the company's own until then.
 *
 * @throws AppError PROVIDER_UNAVAILABLE.
 */
export async function customerInvoices(ask: Ask, customer: string): Promise<CustomerInvoice[]> {
  const { data } = await ask((provider) => provider.invoices.list({ customer, limit: asked }));
  return data.map(readInvoice).filter((invoice) => invoice !== null && invoice.state !== 'draft') as CustomerInvoice[];
}

/**
 * Returns what a subscription's next invoice will be; null if none follows, or if the key may not read it.
 *
 * @throws AppError PROVIDER_UNAVAILABLE.
 */
export async function nextInvoice(ask: Ask, subscription: string): Promise<NextInvoice | null> {
  const preview = await unlessRefused(ask((provider) => provider.invoices.createPreview({ subscription })));
  const { amountDue, currency } = readInvoiceState(preview ?? {});
  const invoice = fields(preview);
  if (invoice === null || amountDue === null || currency === null) return null;
  return { at: isoOf(invoice.period_end), amount: amountDue, currency, due: isoOf(invoice.due_date) };
}

/**
 * Returns the method that is charged: a subscription's own, else its customer's default; null without one, or if the
 * key may not read it.
 *
 * @throws AppError PROVIDER_UNAVAILABLE.
 */
export async function chargedMethod(
  ask: Ask,
  { customer, subscription }: { customer: string; subscription: string | null },
): Promise<ChargedMethod | null> {
  const ofCustomer = 'invoice_settings.default_payment_method';
  if (subscription === null) {
    const shown = await unlessRefused(
      ask((provider) => provider.customers.retrieve(customer, { expand: [ofCustomer] })),
    );
    return methodOf(fields(fields(shown)?.invoice_settings)?.default_payment_method);
  }
  const expand = ['default_payment_method', `customer.${ofCustomer}`];
  const shown = fields(
    await unlessRefused(ask((provider) => provider.subscriptions.retrieve(subscription, { expand }))),
  );
  const settings = fields(fields(shown?.customer)?.invoice_settings);
  return methodOf(shown?.default_payment_method ?? settings?.default_payment_method);
}

function readInvoice(object: object): CustomerInvoice | null {
  const invoice = fields(object);
  const { status, currency, page } = readInvoiceState(object);
  const id = textOf(invoice?.id);
  const { total } = invoice ?? {};
  if (invoice === null || id === null || status === null || currency === null || !Number.isSafeInteger(total))
    return null;
  return {
    id,
    number: textOf(invoice.number),
    at: isoOf(invoice.effective_at ?? invoice.created),
    amount: Number(total),
    currency,
    state: status,
    due: isoOf(invoice.due_date),
    page,
    pdf: addressOf(invoice.invoice_pdf),
  };
}

function methodOf(value: unknown): ChargedMethod | null {
  const name = methodName(value);
  if (name === null) return null;
  const method = fields(value);
  const card = fields(method?.[textOf(method?.type) ?? '']);
  const [year, month] = [seconds(card?.exp_year), seconds(card?.exp_month)];
  return { name, expires: year === null || month === null ? null : `${year}-${String(month).padStart(2, '0')}` };
}

/** Null if the provider refuses, because there is nothing to show or the key may not read it. */
async function unlessRefused<Answer>(answer: Promise<Answer>): Promise<Answer | null> {
  return answer.catch((error: unknown) => {
    if (![400, 403, 404].includes(providerErrorOf(error)?.status ?? 0)) throw error;
    return null;
  });
}

function isoOf(value: unknown): string | null {
  return dateOfSecond(seconds(value))?.toISOString() ?? null;
}
