import type Stripe from 'stripe';
import type { Provider } from '../provider/provider.ts';
import type { Charge, InvoicePayment, PaymentIntent } from '../provider/records.ts';
import { missing } from '../routing/api-error.ts';
import { createdIn, listPage } from '../routing/lists.ts';
import { pageRules, rangeRule } from '../routing/parameters.ts';
import { type Call, route } from '../routing/route.ts';

export const paymentRoutes = [
  route<Stripe.ChargeRetrieveParams>('GET', '/v1/charges/:id', {}, ({ provider, id }) => findCharge(provider, id)),
  route<Stripe.ChargeListParams>(
    'GET',
    '/v1/charges',
    { ...pageRules, created: rangeRule, customer: 'string', payment_intent: 'string', transfer_group: 'unsupported' },
    listCharges,
  ),
  route<Stripe.PaymentIntentRetrieveParams>(
    'GET',
    '/v1/payment_intents/:id',
    { client_secret: 'unsupported' },
    ({ provider, id }) => findIntent(provider, id, 'id'),
  ),
  route<Stripe.PaymentIntentListParams>(
    'GET',
    '/v1/payment_intents',
    { ...pageRules, created: rangeRule, customer: 'string', customer_account: 'unsupported' },
    listIntents,
  ),
  route<Stripe.InvoicePaymentRetrieveParams>('GET', '/v1/invoice_payments/:id', {}, ({ provider, id }) => {
    const payment = provider.state.invoice_payments[id];
    if (!payment) throw missing('invoice_payment', id);
    return payment;
  }),
  route<Stripe.InvoicePaymentListParams>(
    'GET',
    '/v1/invoice_payments',
    {
      ...pageRules,
      created: rangeRule,
      invoice: 'string',
      payment: {
        hash: {
          payment_intent: 'string',
          payment_record: 'unsupported',
          type: { one: ['payment_intent', 'payment_record'] },
        },
        required: ['type'],
      },
      status: { one: ['canceled', 'open', 'paid'] },
    },
    listInvoicePayments,
  ),
];

/** @throws ApiError resource_missing if there is no such charge. */
export function findCharge(provider: Provider, id: string, param = 'id'): Charge {
  const charge = provider.state.charges[id];
  if (!charge) throw missing('charge', id, param);
  return charge;
}

/** @throws ApiError resource_missing if there is no such payment intent. */
export function findIntent(provider: Provider, id: string, param: string): PaymentIntent {
  const intent = provider.state.payment_intents[id];
  if (!intent) throw missing('payment_intent', id, param);
  return intent;
}

function listCharges({ provider, params, path }: Call<Stripe.ChargeListParams>) {
  const all = Object.values(provider.state.charges).filter(
    (charge) =>
      createdIn(charge, params.created) &&
      (params.customer === undefined || charge.customer === params.customer) &&
      (params.payment_intent === undefined || charge.payment_intent === params.payment_intent),
  );
  return listPage(path, all, params, 'charge');
}

function listIntents({ provider, params, path }: Call<Stripe.PaymentIntentListParams>) {
  const all = Object.values(provider.state.payment_intents).filter(
    (intent) =>
      createdIn(intent, params.created) && (params.customer === undefined || intent.customer === params.customer),
  );
  return listPage(path, all, params, 'payment_intent');
}

function listInvoicePayments({ provider, params, path }: Call<Stripe.InvoicePaymentListParams>) {
  if (params.payment?.payment_intent) findIntent(provider, params.payment.payment_intent, 'payment[payment_intent]');
  const all = Object.values(provider.state.invoice_payments).filter(
    (one: InvoicePayment) =>
      createdIn(one, params.created) &&
      (params.invoice === undefined || one.invoice === params.invoice) &&
      (params.status === undefined || one.status === params.status) &&
      (params.payment === undefined || one.payment.payment_intent === params.payment.payment_intent),
  );
  return listPage(path, all, params, 'invoice_payment');
}
