import { createHmac } from 'node:crypto';
import { base32 } from 'oslo/encoding';
import { generateHOTP } from 'oslo/otp';
import type { Caller } from '../router/root.ts';
import type { TestApp } from './app.ts';

const stepSeconds = 30;

/** Returns the next code of an authenticator app. Moves the clock on by a step, because a code counts once. */
export function nextCode(test: Pick<TestApp, 'app' | 'advance'>, secret: string): Promise<string> {
  test.advance(stepSeconds * 1000);
  const key = base32.decode(secret, { strict: false });
  return generateHOTP(key, Math.floor(test.app.now().getTime() / 1000 / stepSeconds));
}

/** Returns the code that an app shows now, without waiting for it. */
export function currentCode({ app }: Pick<TestApp, 'app'>, secret: string): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(app.now().getTime() / 1000 / stepSeconds)));
  const hash = createHmac('sha1', base32.decode(secret, { strict: false }))
    .update(counter)
    .digest();
  const number = hash.readUInt32BE((hash.at(-1) ?? 0) & 0xf) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, '0');
}

/** Sets up an authenticator app for a user in a fresh session. */
export async function addTotp(
  test: Pick<TestApp, 'app' | 'advance'>,
  api: Caller,
): Promise<{ secret: string; recoveryCodes: string[] }> {
  const { secret } = await api.factors.totp();
  const { recovery_codes: recoveryCodes = [] } = await api.factors.confirmTotp({ totp: await nextCode(test, secret) });
  return { secret, recoveryCodes };
}
