import type { Config } from '@gatehouse/api/config';
import { paymentPageOrigins } from '@gatehouse/api/providers/payment-pages';

/** The security headers of every answer. Some may be overwritten: the policy, the referrer's and the cache's. */
export function apiHeaders({
  strictTransportSecurity,
}: Pick<Config, 'strictTransportSecurity'>): Record<string, string> {
  return {
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'strict-origin-when-cross-origin',
    'cache-control': 'no-store',
    ...(strictTransportSecurity !== null && { 'strict-transport-security': strictTransportSecurity }),
  };
}

/** Completes the policy that Kit writes for pages. */
export function policyOfPage(policy: string, { returnOrigins, payment, idp, service }: Config): string {
  // Chromium applies form-action to the redirects after a form too, so the providers' origins are listed.
  const providers = [...paymentPageOrigins(payment), ...(idp === null ? [] : [new URL(idp.authUrl).origin])];
  const formTargets = [...new Set(["'self'", ...providers, ...returnOrigins])].join(' ');
  return `${withPicture(policy, service.logo)}; form-action ${formTargets}`;
}

/** Adds the logo's origin: Kit writes the policy at build time, and the logo's URL is known at start. */
function withPicture(policy: string, logo: string | null): string {
  return logo === null ? policy : policy.replace(/img-src[^;]*/, (sources) => `${sources} ${new URL(logo).origin}`);
}
