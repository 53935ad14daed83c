import type Stripe from 'stripe';
import { announce, change } from '../events/announce.ts';
import type { Provider } from '../provider/provider.ts';
import type { Customer, PaymentMethod, Subscription } from '../provider/records.ts';
import { ApiError, missing } from '../routing/api-error.ts';
import { listPage } from '../routing/lists.ts';
import { pageRules } from '../routing/parameters.ts';
import { type Call, route } from '../routing/route.ts';
import { saveTestMethod, testMethodByToken, testMethodOf } from './test-methods.ts';

export const paymentMethodRoutes = [
  route<Stripe.PaymentMethodRetrieveParams>('GET', '/v1/payment_methods/:id', {}, ({ provider, id }) => {
    const method = provider.state.payment_methods[id];
    if (!method) throw missing('PaymentMethod', id);
    return method;
  }),
  route<Stripe.PaymentMethodListParams>(
    'GET',
    '/v1/payment_methods',
    {
      ...pageRules,
      allow_redisplay: { one: ['always', 'limited', 'unspecified'] },
      customer: 'string',
      customer_account: 'unsupported',
      type: 'string',
    },
    list,
  ),
  route<Stripe.PaymentMethodAttachParams>(
    'POST',
    '/v1/payment_methods/:id/attach',
    { customer: 'string', customer_account: 'unsupported' },
    attach,
    ['customer'],
  ),
  route<Stripe.PaymentMethodDetachParams>('POST', '/v1/payment_methods/:id/detach', {}, detach),
];

function list({ provider, params, path }: Call<Stripe.PaymentMethodListParams>) {
  const all = Object.values(provider.state.payment_methods).filter(
    (method) =>
      (params.customer === undefined || method.customer === params.customer) &&
      (params.allow_redisplay === undefined || method.allow_redisplay === params.allow_redisplay) &&
      (params.type === undefined || method.type === params.type),
  );
  return listPage(path, all, params, 'PaymentMethod');
}

function attach({ provider, id, params }: Call<Stripe.PaymentMethodAttachParams>): PaymentMethod {
  const customer = provider.state.customers[params.customer ?? ''];
  if (!customer) throw missing('customer', params.customer ?? '', 'customer');
  return usePaymentMethod(provider, id, customer);
}

function detach({ provider, id }: Call<Stripe.PaymentMethodDetachParams>): PaymentMethod {
  const method = provider.state.payment_methods[id];
  if (!method) throw missing('PaymentMethod', id);
  const customer = provider.state.customers[method.customer ?? ''];
  if (customer?.invoice_settings.default_payment_method === id) customer.invoice_settings.default_payment_method = null;
  for (const subscription of Object.values(provider.state.subscriptions)) {
    if (subscription.default_payment_method === id) useForSubscription(provider, subscription, null);
  }
  return change(provider, 'payment_method.detached', method, () => {
    method.customer = null;
  });
}

/**
 * Attaches a saved payment method, or a test card or bank account by its token (pm_card_visa …), to a customer.
 *
 * @throws ApiError resource_missing if there is no such payment method, card_declined if the card declines.
 */
export function usePaymentMethod(provider: Provider, id: string, customer: Customer): PaymentMethod {
  const ready = testMethodByToken(id);
  const method = ready ? saveTestMethod(provider, ready, null) : provider.state.payment_methods[id];
  if (!method) throw missing('PaymentMethod', id, 'payment_method');
  if (testMethodOf(method)?.saved === 'declines') {
    throw new ApiError(402, 'Your card was declined.', {
      type: 'card_error',
      code: 'card_declined',
      declineCode: 'generic_decline',
    });
  }
  method.customer = customer.id;
  announce(provider, 'payment_method.attached', method);
  return method;
}

/** Sets or, with null, clears the payment method of a subscription, and announces the change. */
function useForSubscription(provider: Provider, subscription: Subscription, method: string | null): void {
  change(provider, 'customer.subscription.updated', subscription, () => {
    subscription.default_payment_method = method;
  });
}
