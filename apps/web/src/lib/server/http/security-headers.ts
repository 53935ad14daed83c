import type { App } from '@gatehouse/api/app';
import { paymentPageOrigins } from '@gatehouse/api/providers/payment-pages';

/** Sets the security headers of every response, and completes the content security policy that Kit writes for pages. */
export function addSecurityHeaders(app: App, headers: Headers): void {
  const { strictTransportSecurity, returnOrigins, payment, idp, service } = app.config;
  const policy = headers.get('content-security-policy');
  // Chromium applies form-action to the redirects after a form too, so the providers' origins are listed.
  const providers = [...paymentPageOrigins(payment), ...(idp === null ? [] : [new URL(idp.authUrl).origin])];
  const formTargets = [...new Set(["'self'", ...providers, ...returnOrigins])].join(' ');
  headers.set(
    'content-security-policy',
    policy === null
      ? "default-src 'none'; frame-ancestors 'none'"
      : `${withPicture(policy, service.logo)}; form-action ${formTargets}`,
  );
  headers.set('x-content-type-options', 'nosniff');
  headers.set('x-frame-options', 'DENY');
  headers.set('cross-origin-opener-policy', 'same-origin');
  if (!headers.has('referrer-policy')) headers.set('referrer-policy', 'strict-origin-when-cross-origin');
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store');
  if (strictTransportSecurity !== null) headers.set('strict-transport-security', strictTransportSecurity);
}

/** Adds the logo's origin: Kit writes the policy at build time, and the logo's URL is known at start. */
function withPicture(policy: string, logo: string | null): string {
  return logo === null ? policy : policy.replace(/img-src[^;]*/, (sources) => `${sources} ${new URL(logo).origin}`);
}
