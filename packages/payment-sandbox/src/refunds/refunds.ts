import type Stripe from 'stripe';
import { findCharge, findIntent } from '../payments/payments.ts';
import type { Provider } from '../provider/provider.ts';
import type { Charge, Refund } from '../provider/records.ts';
import { missing, missingParameter } from '../routing/api-error.ts';
import { createdIn, listPage } from '../routing/lists.ts';
import { mergeMetadata, pageRules, rangeRule } from '../routing/parameters.ts';
import { type Call, route } from '../routing/route.ts';
import { refundCharge } from './refund.ts';

export const refundRoutes = [
  route<Stripe.RefundCreateParams>(
    'POST',
    '/v1/refunds',
    {
      amount: 'integer',
      charge: 'string',
      currency: 'unsupported',
      customer: 'unsupported',
      instructions_email: 'unsupported',
      metadata: 'metadata',
      origin: 'unsupported',
      payment_intent: 'string',
      reason: { one: ['duplicate', 'fraudulent', 'requested_by_customer'] },
      refund_application_fee: 'unsupported',
      reverse_transfer: 'unsupported',
    },
    ({ provider, params }) =>
      refundCharge(provider, chargeToRefund(provider, params), {
        amount: params.amount,
        reason: params.reason,
        metadata: mergeMetadata({}, params.metadata),
      }),
  ),
  route<Stripe.RefundRetrieveParams>('GET', '/v1/refunds/:id', {}, ({ provider, id }) => findRefund(provider, id)),
  route<Stripe.RefundUpdateParams>('POST', '/v1/refunds/:id', { metadata: 'metadata' }, ({ provider, id, params }) => {
    const refund = findRefund(provider, id);
    if (params.metadata !== undefined) refund.metadata = mergeMetadata(refund.metadata, params.metadata);
    return refund;
  }),
  route<Stripe.RefundListParams>(
    'GET',
    '/v1/refunds',
    { ...pageRules, charge: 'string', created: rangeRule, payment_intent: 'string' },
    list,
  ),
];

/** @throws ApiError resource_missing if there is no such refund. */
export function findRefund(provider: Provider, id: string): Refund {
  const refund = provider.state.refunds[id];
  if (!refund) throw missing('refund', id);
  return refund;
}

function chargeToRefund(provider: Provider, params: Stripe.RefundCreateParams): Charge {
  if (params.charge) return findCharge(provider, params.charge, 'charge');
  if (!params.payment_intent) throw missingParameter('payment_intent');
  const intent = findIntent(provider, params.payment_intent, 'payment_intent');
  return findCharge(provider, intent.latest_charge ?? '', 'payment_intent');
}

function list({ provider, params, path }: Call<Stripe.RefundListParams>) {
  const all = Object.values(provider.state.refunds).filter(
    (refund) =>
      createdIn(refund, params.created) &&
      (params.charge === undefined || refund.charge === params.charge) &&
      (params.payment_intent === undefined || refund.payment_intent === params.payment_intent),
  );
  return listPage(path, all, params, 'refund');
}
