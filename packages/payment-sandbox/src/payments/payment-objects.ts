import { last4Of } from '../customers/test-methods.ts';
import { newId } from '../provider/id.ts';
import type { Charge, Invoice, PaymentIntent, PaymentMethod } from '../provider/records.ts';

/** Returns the payment intent of a payment that has succeeded. */
export function newPaymentIntent(invoice: Invoice, method: PaymentMethod, at: number): PaymentIntent {
  const id = newId('pi');
  return {
    id,
    object: 'payment_intent',
    allowed_payment_method_types: null,
    amount: invoice.amount_due,
    amount_capturable: 0,
    amount_received: invoice.amount_due,
    application: null,
    application_fee_amount: null,
    automatic_payment_methods: null,
    canceled_at: null,
    cancellation_reason: null,
    capture_method: 'automatic',
    client_secret: `${id}_secret_sandbox`,
    confirmation_method: 'automatic',
    created: at,
    currency: invoice.currency,
    customer: invoice.customer,
    customer_account: null,
    description: describe(invoice),
    excluded_payment_method_types: null,
    last_payment_error: null,
    latest_charge: null,
    livemode: false,
    managed_payments: null,
    metadata: {},
    next_action: null,
    on_behalf_of: null,
    payment_method: method.id,
    payment_method_configuration_details: null,
    payment_method_options: null,
    payment_method_types: [method.type],
    payment_record: null,
    processing: null,
    receipt_email: null,
    review: null,
    setup_future_usage: 'off_session',
    shipping: null,
    source: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: 'succeeded',
    transfer_data: null,
    transfer_group: null,
  };
}

/** Returns the charge of a payment intent that has succeeded. */
export function newCharge(invoice: Invoice, intent: PaymentIntent, method: PaymentMethod): Charge {
  return {
    id: newId('ch'),
    object: 'charge',
    amount: intent.amount,
    amount_captured: intent.amount,
    amount_refunded: 0,
    application: null,
    application_fee: null,
    application_fee_amount: null,
    balance_transaction: null,
    billing_details: method.billing_details,
    calculated_statement_descriptor: 'SANDBOX PAYMENTS',
    captured: true,
    created: intent.created,
    currency: intent.currency,
    customer: invoice.customer,
    description: intent.description,
    disputed: false,
    failure_balance_transaction: null,
    failure_code: null,
    failure_message: null,
    fraud_details: {},
    livemode: false,
    metadata: {},
    on_behalf_of: null,
    outcome: {
      advice_code: null,
      network_advice_code: null,
      network_decline_code: null,
      network_status: 'approved_by_network',
      reason: null,
      risk_level: 'normal',
      seller_message: 'Payment complete.',
      type: 'authorized',
    },
    paid: true,
    payment_intent: intent.id,
    payment_method: method.id,
    payment_method_details: detailsOf(method),
    receipt_email: null,
    receipt_number: null,
    receipt_url: invoice.hosted_invoice_url ?? null,
    refunded: false,
    review: null,
    shipping: null,
    source: null,
    source_transfer: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: 'succeeded',
    transfer_data: null,
    transfer_group: null,
  };
}

function describe({ billing_reason: reason }: Invoice): string {
  return reason === 'subscription_create' ? 'Subscription creation' : 'Subscription update';
}

function detailsOf(method: PaymentMethod): Charge['payment_method_details'] {
  const { type, card, sepa_debit, bacs_debit, us_bank_account } = method;
  const last4 = last4Of(method);
  if (sepa_debit) {
    const { bank_code, branch_code, country, fingerprint } = sepa_debit;
    return { type, sepa_debit: { bank_code, branch_code, country, fingerprint, last4, mandate: null } };
  }
  if (bacs_debit) return { type, bacs_debit: { ...bacs_debit, mandate: null } };
  if (us_bank_account) {
    const { account_holder_type, account_type, bank_name, fingerprint, routing_number } = us_bank_account;
    const account = { account_holder_type, account_type, bank_name, fingerprint, routing_number };
    return { type, us_bank_account: { ...account, last4, payment_reference: null } };
  }
  return card ? { type, card: cardDetails(card) } : null;
}

function cardDetails(card: NonNullable<PaymentMethod['card']>) {
  return {
    amount_authorized: null,
    authorization_code: null,
    brand: card.brand,
    checks: null,
    country: card.country,
    electronic_commerce_indicator: null,
    exp_month: card.exp_month,
    exp_year: card.exp_year,
    fingerprint: card.fingerprint ?? null,
    funding: card.funding,
    installments: null,
    last4: card.last4,
    mandate: null,
    network: card.brand,
    network_transaction_id: null,
    regulated_status: 'unregulated' as const,
    three_d_secure: null,
    transaction_link_id: null,
    wallet: null,
  };
}
