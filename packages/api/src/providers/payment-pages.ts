import type { PaymentConfig } from '../config.ts';

/**
 * Where the payment provider's hosted pages (checkout, portal, invoices) live, for the
 * policy on forms: its own addresses, and a domain of the company's own.
 */
export function paymentPageOrigins(payment: PaymentConfig | null): string[] {
  return payment === null ? [] : [...ownOrigins(payment), ...payment.pageOrigins];
}

function ownOrigins({ apiUrl }: PaymentConfig): string[] {
  if (apiUrl !== null) return [new URL(apiUrl).origin];
  return ['https://checkout.stripe.com', 'https://billing.stripe.com', 'https://invoice.stripe.com'];
}
