import type { Config } from '../config.ts';

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
