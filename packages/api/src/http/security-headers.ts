import type { Config } from '../platform/config.ts';
import { paymentPageOrigins } from '../platform/links.ts';

/**
 * The security headers of every answer: of endpoints, redirects, static files, probes and refusals. A page replaces
 * the policy, and may replace the referrer's. A browser ignores the policy of a script, style sheet, font or picture
 * that a page loads.
 */
export function securityHeaders({ strictTransportSecurity }: Pick<Config, 'strictTransportSecurity'>) {
  return {
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'strict-origin-when-cross-origin',
    ...(strictTransportSecurity !== null && { 'strict-transport-security': strictTransportSecurity }),
  };
}

/** The headers of every answer. A route may replace the content security policy, the referrer policy and Cache-Control. */
export function apiHeaders(config: Pick<Config, 'strictTransportSecurity'>): Record<string, string> {
  return { ...securityHeaders(config), 'cache-control': 'no-store' };
}

/** Completes the content security policy that Kit writes for pages. */
export function policyOfPage(policy: string, { returnOrigins, payment, idp, service }: Config): string {
  // Chromium applies form-action to the redirects after a form too, so the providers' origins are listed.
  const providers = [...paymentPageOrigins(payment), ...(idp === null ? [] : [new URL(idp.authUrl).origin])];
  const formTargets = [...new Set(["'self'", ...providers, ...returnOrigins])].join(' ');
  return `${withLogoOrigins(policy, [service.logo, service.logoDark])}; form-action ${formTargets}`;
}

/** Adds the logos' origins: Kit writes the policy at build time, and the URLs are known at start. */
function withLogoOrigins(policy: string, logos: (string | null)[]): string {
  const elsewhere = logos.flatMap((logo) => (logo === null || logo.startsWith('/') ? [] : [new URL(logo).origin]));
  return policy.replace(/img-src[^;]*/, (sources) => [...new Set([sources, ...elsewhere])].join(' '));
}
