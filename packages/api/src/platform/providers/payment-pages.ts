import type { PaymentConfig } from '../config.ts';

/**
 * Returns the origins of the payment provider's hosted pages (checkout, portal, invoices), for the
 * form-action directive: the provider's own and the company's custom domain.
 */
export function paymentPageOrigins(payment: PaymentConfig | null): string[] {
  return payment === null ? [] : [...ownOrigins(payment), ...payment.pageOrigins];
}

function ownOrigins({ apiUrl }: PaymentConfig): string[] {
  if (apiUrl !== null) return [new URL(apiUrl).origin];
  return ['https://checkout.stripe.com', 'https://billing.stripe.com', 'https://invoice.stripe.com'];
}
