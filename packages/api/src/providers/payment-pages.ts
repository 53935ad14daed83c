import type { PaymentConfig } from '../config.ts';

/** Where the payment provider's hosted pages (checkout, portal, invoices) live, for the policy on forms. */
export function paymentPageOrigins(payment: PaymentConfig | null): string[] {
  if (payment === null) return [];
  if (payment.apiUrl !== null) return [new URL(payment.apiUrl).origin];
  return ['https://checkout.stripe.com', 'https://billing.stripe.com', 'https://invoice.stripe.com'];
}
