import type Stripe from 'stripe';
import { testMethodsFor } from '../customers/test-methods.ts';
import { newId } from '../provider/id.ts';
import type { Provider } from '../provider/provider.ts';
import type { CheckoutSession, LineItem } from '../provider/records.ts';
import { refused } from '../routing/api-error.ts';
import { mergeMetadata } from '../routing/parameters.ts';

/** Returns a new open session with the URL of its hosted page. Times in seconds. */
export function newSession(
  provider: Provider,
  params: Stripe.Checkout.SessionCreateParams,
  lines: LineItem[],
  at: number,
  expiresAt: number,
): CheckoutSession {
  const id = newId('cs_test', 40);
  const amount = lines.reduce((sum, line) => sum + line.amount_total, 0);
  return {
    id,
    object: 'checkout.session',
    adaptive_pricing: params.adaptive_pricing ? { enabled: params.adaptive_pricing.enabled ?? false } : null,
    after_expiration: null,
    allow_promotion_codes: params.allow_promotion_codes ?? null,
    allowed_payment_method_types: params.allowed_payment_method_types ?? null,
    amount_subtotal: amount,
    amount_total: amount,
    automatic_tax: automaticTax(params.automatic_tax?.enabled ?? false),
    billing_address_collection: (params.billing_address_collection as 'required') ?? null,
    cancel_url: params.cancel_url ?? null,
    client_reference_id: params.client_reference_id ?? null,
    client_secret: null,
    collected_information: null,
    consent: null,
    consent_collection: null,
    created: at,
    currency: lines[0]?.currency ?? null,
    currency_conversion: null,
    custom_fields: [],
    custom_text: { after_submit: null, shipping_address: null, submit: null, terms_of_service_acceptance: null },
    customer: params.customer ?? null,
    customer_account: null,
    customer_creation: params.customer ? null : 'always',
    customer_details: null,
    customer_email: params.customer_email ?? null,
    discounts: [],
    expires_at: expiresAt,
    integration_identifier: null,
    invoice: null,
    invoice_creation: null,
    line_items: { object: 'list', data: lines, has_more: false, url: `/v1/checkout/sessions/${id}/line_items` },
    livemode: false,
    locale: (params.locale as CheckoutSession['locale']) ?? null,
    managed_payments: null,
    metadata: mergeMetadata({}, params.metadata),
    mode: 'subscription',
    origin_context: null,
    payment_intent: null,
    payment_link: null,
    payment_method_collection: params.payment_method_collection ?? 'always',
    payment_method_configuration_details: null,
    payment_method_options: null,
    payment_method_types: acceptedTypes(lines[0]?.currency ?? '', params.allowed_payment_method_types),
    payment_status: 'unpaid',
    permissions: null,
    recovered_from: null,
    saved_payment_method_options: null,
    setup_intent: null,
    shipping_address_collection: null,
    shipping_cost: null,
    shipping_options: [],
    status: 'open',
    submit_type: null,
    subscription: null,
    success_url: params.success_url ?? null,
    ...(params.tax_id_collection && {
      tax_id_collection: { enabled: params.tax_id_collection.enabled, required: 'never' as const },
    }),
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
    ui_mode: 'hosted_page',
    url: `${provider.url}/pay/checkout/${id}`,
    wallet_options: null,
  };
}

/** The account has no tax registration, so that an automatic tax is always 0. */
function automaticTax(enabled: boolean): CheckoutSession['automatic_tax'] {
  if (!enabled) return { enabled, liability: null, provider: null, status: null };
  return { enabled, liability: { type: 'self' }, provider: 'stripe', status: 'requires_location_inputs' };
}

/**
 * Returns the types of payment methods that a session accepts: of those that the account has for the
 * currency, the allowed ones.
 *
 * @throws ApiError if none is left.
 */
function acceptedTypes(currency: string, allowed?: string[]): string[] {
  const types = [...new Set(testMethodsFor(currency, allowed).map(({ type }) => type))];
  if (types.length > 0) return types;
  throw refused('No valid payment method types for this Checkout Session.', { param: 'allowed_payment_method_types' });
}
