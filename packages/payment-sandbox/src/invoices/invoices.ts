import type Stripe from 'stripe';
import type { Provider } from '../provider/provider.ts';
import type { Invoice } from '../provider/records.ts';
import { ApiError, missing, refused } from '../routing/api-error.ts';
import { createdIn, listPage } from '../routing/lists.ts';
import { pageRules, rangeRule } from '../routing/parameters.ts';
import { type Call, route } from '../routing/route.ts';
import { requireNoDebit } from './debit.ts';
import { finalizeInvoice } from './draft-invoice.ts';
import { payNow } from './pay-invoice.ts';
import { previewRoute } from './preview-invoice.ts';
import { markUncollectible, settle, voidInvoice } from './settle-invoice.ts';

export const invoiceRoutes = [
  route<Stripe.InvoiceListParams>(
    'GET',
    '/v1/invoices',
    {
      ...pageRules,
      collection_method: 'string',
      created: rangeRule,
      customer: 'string',
      customer_account: 'unsupported',
      due_date: 'unsupported',
      status: { one: ['draft', 'open', 'paid', 'uncollectible', 'void'] },
      subscription: 'string',
    },
    list,
  ),
  previewRoute,
  route<Stripe.InvoiceRetrieveParams>('GET', '/v1/invoices/:id', {}, ({ provider, id }) => findInvoice(provider, id)),
  route<Stripe.InvoicePayParams>(
    'POST',
    '/v1/invoices/:id/pay',
    {
      forgive: 'unsupported',
      mandate: 'unsupported',
      off_session: 'boolean',
      paid_out_of_band: 'boolean',
      payment_method: 'string',
      source: 'unsupported',
    },
    pay,
  ),
  route<Stripe.InvoiceFinalizeInvoiceParams>(
    'POST',
    '/v1/invoices/:id/finalize',
    { auto_advance: 'boolean' },
    ({ provider, id, params }) => {
      const invoice = findInvoice(provider, id);
      if (invoice.status !== 'draft')
        throw refused('This invoice is already finalized.', { code: 'invoice_not_editable' });
      if (params.auto_advance !== undefined) invoice.auto_advance = params.auto_advance;
      finalizeInvoice(provider, invoice);
      if (invoice.amount_due === 0) settle(provider, invoice);
      return invoice;
    },
  ),
  route<Stripe.InvoiceVoidInvoiceParams>('POST', '/v1/invoices/:id/void', {}, ({ provider, id }) => {
    const invoice = requireUnpaid(provider, id, 'void');
    voidInvoice(provider, invoice);
    return invoice;
  }),
  route<Stripe.InvoiceMarkUncollectibleParams>(
    'POST',
    '/v1/invoices/:id/mark_uncollectible',
    {},
    ({ provider, id }) => {
      const invoice = requireUnpaid(provider, id, 'mark as uncollectible');
      markUncollectible(provider, invoice);
      return invoice;
    },
  ),
];

function findInvoice(provider: Provider, id: string): Invoice {
  const invoice = provider.state.invoices[id];
  if (!invoice) throw missing('invoice', id);
  return invoice;
}

function list({ provider, params, path }: Call<Stripe.InvoiceListParams>) {
  const all = Object.values(provider.state.invoices).filter(
    (invoice) =>
      createdIn(invoice, params.created) &&
      (params.customer === undefined || invoice.customer === params.customer) &&
      (params.status === undefined || invoice.status === params.status) &&
      (params.subscription === undefined || invoice.parent.subscription_details.subscription === params.subscription) &&
      (params.collection_method === undefined || invoice.collection_method === params.collection_method),
  );
  return listPage(path, all, params, 'invoice');
}

function pay({ provider, id, params }: Call<Stripe.InvoicePayParams>): Invoice {
  const invoice = findInvoice(provider, id);
  if (invoice.status === 'paid') throw refused('Invoice is already paid');
  if (invoice.status === 'void') throw refused('Invoices that are void cannot be paid.');
  requireNoDebit(provider, invoice);
  if (params.paid_out_of_band) {
    finalizeInvoice(provider, invoice);
    settle(provider, invoice);
    return invoice;
  }
  const method = params.payment_method;
  if (method && provider.state.payment_methods[method]?.customer !== invoice.customer) {
    throw missing('PaymentMethod', method, 'payment_method');
  }
  const charge = payNow(provider, id, params.off_session === false, { manual: true, paymentMethod: method });
  if (charge.result === 'paid' || charge.result === 'processing' || charge.result === 'not_charged') return invoice;
  if (charge.result === 'no_card') throw refused(charge.message, { code: 'resource_missing' });
  throw new ApiError(402, charge.message, {
    type: 'card_error',
    code: charge.result === 'requires_action' ? 'invoice_payment_intent_requires_action' : 'card_declined',
    declineCode: charge.result === 'requires_action' ? 'authentication_required' : 'generic_decline',
  });
}

/** Returns an invoice that can be voided or written off. @throws ApiError if it is paid, void, a draft, or being paid. */
export function requireUnpaid(provider: Provider, id: string, verb: string): Invoice {
  const invoice = findInvoice(provider, id);
  requireNoDebit(provider, invoice);
  if (invoice.status === 'open' || invoice.status === 'uncollectible') return invoice;
  throw refused(`You can only ${verb} invoices that are open. This one is ${invoice.status}.`, {
    code: 'status_transition_invalid',
  });
}
