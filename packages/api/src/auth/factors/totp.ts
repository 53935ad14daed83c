import { base32 } from 'oslo/encoding';
import { generateHOTP } from 'oslo/otp';
import { constantTimeEqual } from '../../platform/security/token.ts';

// oslo's HOTP (RFC 4226). Its own `TOTPController.verify` allows no drift, and its key URI writes a blank as "+", which
// authenticator apps show.

const stepSeconds = 30;
/** RFC 4226 §4 recommends 160 bits. */
const secretBytes = 20;

/** Returns a new secret in base32, as apps take it. */
export function newTotpSecret(): string {
  return base32.encode(crypto.getRandomValues(new Uint8Array(secretBytes)), { includePadding: false });
}

/** Returns the URI that an authenticator app reads from the QR code (Google's Key URI Format). */
export function totpUri({ secret, issuer, account }: { secret: string; issuer: string; account: string }): string {
  const parameters = { secret, issuer, algorithm: 'SHA1', digits: '6', period: String(stepSeconds) };
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  // A colon separates the two in the label.
  const label = [issuer.replaceAll(':', ' '), account].map(encodeURIComponent).join(':');
  return `otpauth://totp/${label}?${query.join('&')}`;
}

/**
 * Returns the time step whose code was typed: the current one, the one before or the one after (RFC 6238 §5.2); null if
 * it is none of them, or not above `lastStep`. The caller takes the step with one statement.
 */
export async function stepOfCode(
  { secret, lastStep }: { secret: string; lastStep: number },
  typed: string,
  now: Date,
): Promise<number | null> {
  const code = typed.replace(/\s/g, '');
  const key = base32.decode(secret, { strict: false });
  const current = Math.floor(now.getTime() / 1000 / stepSeconds);
  let found: number | null = null;
  for (const step of [current - 1, current, current + 1]) {
    if (constantTimeEqual(await generateHOTP(key, step), code) && step > lastStep) found = step;
  }
  return found;
}

/** What the encryption of a user's secret is bound to. */
export function totpPurpose(userId: string): string {
  return `totp of user ${userId}`;
}
