import { readServiceUrl } from '@gatehouse/sandbox/environment';

/** What this package sets itself. HOST is the loopback address. */
const ours = [
  'DATABASE_URL',
  'DATA_DIR',
  'HOST',
  'IDP_AUTH_URL',
  'IDP_CLIENT_ID',
  'IDP_CLIENT_SECRET',
  'IDP_ISSUERS',
  'IDP_TOKEN_URL',
  'PAYMENT_API_URL',
  'PAYMENT_SECRET_KEY',
  'PAYMENT_WEBHOOK_SECRET',
  'SMTP_URL',
];

/**
 * Checks the variables of a test before anything is started for them.
 *
 * @throws Error if other machines could reach the service, because its sandbox lets anybody sign in as anybody, and for a
 *   variable that is not the test's.
 */
export function checkEnvironment(environment: Record<string, string>): void {
  if (environment.PUBLIC_BASE_URL) readServiceUrl(environment.PUBLIC_BASE_URL);
  const taken = ours.find((name) => environment[name] !== undefined);
  if (taken !== undefined) throw new Error(`${taken} is set by @gatehouse/testing: leave it out.`);
}
