import type { Config, PaymentConfig } from './config.ts';
import { AppError } from './errors.ts';
import { message } from './messages.ts';

type Base = Pick<Config, 'publicBaseUrl'>;

/**
 * Returns the canonical public base URL. Every URL that leaves the service is built from it
 * and never from a request (interface §1.7). All functions of this file throw as this one does.
 *
 * @throws AppError INTERNAL if PUBLIC_BASE_URL is not set, so that no wrong link is sent.
 */
export function baseUrl(config: Base): string {
  if (config.publicBaseUrl === null) {
    throw new AppError('INTERNAL', message('something_went_wrong'), { cause: new Error('PUBLIC_BASE_URL is not set') });
  }
  return config.publicBaseUrl;
}

/**
 * Returns {base_url}/verify?token=<token> (interface §4).
 *
 * @throws AppError INTERNAL without a canonical base URL.
 */
export function verificationLink(config: Base, token: string): string {
  return `${baseUrl(config)}/verify?token=${token}`;
}

/**
 * Returns the redirect URI that is registered at the identity provider.
 *
 * @throws AppError INTERNAL without a canonical base URL.
 */
export function identityRedirectUri(config: Base): string {
  return `${baseUrl(config)}/auth/idp/callback`;
}

/**
 * Returns the page that sets a password by a one-time token.
 *
 * @throws AppError INTERNAL without a canonical base URL.
 */
export function passwordLink(config: Base, token: string): string {
  return `${baseUrl(config)}/password?token=${token}`;
}

/** Returns the page of an invitation. @throws AppError INTERNAL without a canonical base URL. */
export function invitationLink(config: Base, token: string): string {
  return `${baseUrl(config)}/invitation?token=${token}`;
}

/**
 * Returns the page that the payment provider redirects to after checkout:
 * {base_url}/billing?checkout=success or =cancel.
 *
 * @throws AppError INTERNAL without a canonical base URL.
 */
export function checkoutReturn(config: Base, outcome: 'success' | 'cancel'): string {
  return `${baseUrl(config)}/billing?checkout=${outcome}`;
}

/** Returns the billing page. @throws AppError INTERNAL without a canonical base URL. */
export function billingPage(config: Base): string {
  return `${baseUrl(config)}/billing`;
}

/**
 * Returns the endpoint to which the payment provider sends its events.
 *
 * @throws AppError INTERNAL without a canonical base URL.
 */
export function webhookUrl(config: Base): string {
  return `${baseUrl(config)}/webhooks/payment`;
}

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
