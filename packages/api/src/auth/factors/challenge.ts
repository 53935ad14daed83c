import { createHmac, randomBytes } from 'node:crypto';
import type { App } from '../../app.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { usedChallenges } from '../../platform/db/schema/factors.ts';
import { minuteMilliseconds } from '../../platform/durations.ts';
import { deploymentSecret } from '../../platform/security/deployment-secret.ts';
import { constantTimeEqual, hashToken } from '../../platform/security/token.ts';

const lifetimeMilliseconds = 5 * minuteMilliseconds;
const randomLength = 16;
const dateLength = 6;

/** What a passkey is asked for: to sign in or confirm (`get`), or to be set up by one user. */
export type Purpose = 'get' | `create for ${string}`;

/**
 * Returns a challenge for a browser's authenticator (WebAuthn §13.4.3), and the value of the browser's cookie, to which
 * it is bound. It is random, dated and signed, so that nothing is stored until it is answered. A cookie that this
 * service made is kept: several tabs share it.
 */
export async function newChallenge(app: App, purpose: Purpose, sentCookie: string | null) {
  const key = await deploymentSecret(app, 'challenges');
  const cookie = sentCookie !== null && isOurs(key, sentCookie) ? sentCookie : newCookie(key);

  const dated = Buffer.alloc(randomLength + dateLength);
  randomBytes(randomLength).copy(dated);
  dated.writeUIntBE(app.now().getTime(), randomLength, dateLength);
  const challenge = new Uint8Array(Buffer.concat([dated, sign(key, [purpose, cookie, dated.toString('base64url')])]));
  return { challenge, cookie };
}

/** Returns what decides whether the challenge of an answer is one for this browser and purpose, and not over. */
export async function challengeCheck(app: App, purpose: Purpose, cookie: string | null) {
  const key = await deploymentSecret(app, 'challenges');
  return (challenge: string): boolean => {
    const bytes = Buffer.from(challenge, 'base64url');
    const dated = bytes.subarray(0, randomLength + dateLength);
    if (cookie === null || dated.length < randomLength + dateLength) return false;
    const signature = sign(key, [purpose, cookie, dated.toString('base64url')]);
    const age = app.now().getTime() - dated.readUIntBE(randomLength, dateLength);
    const isSigned = constantTimeEqual(
      bytes.subarray(dated.length).toString('base64url'),
      signature.toString('base64url'),
    );
    return isSigned && age >= 0 && age < lifetimeMilliseconds;
  };
}

/** Takes the challenge of an answer, by one statement: each counts once. Returns whether it was the first time. */
export async function takeChallenge(app: App, tx: Transaction, challenge: string): Promise<boolean> {
  const expiresAt = new Date(app.now().getTime() + lifetimeMilliseconds);
  const taken = await tx
    .insert(usedChallenges)
    .values({ challengeHash: hashToken(challenge), expiresAt })
    .onConflictDoNothing()
    .returning({ expiresAt: usedChallenges.expiresAt });
  return taken.length > 0;
}

function newCookie(key: string): string {
  const random = randomBytes(randomLength).toString('base64url');
  return `${random}.${sign(key, ['cookie', random]).toString('base64url')}`;
}

function isOurs(key: string, cookie: string): boolean {
  const [random = '', signature = ''] = cookie.split('.');
  return constantTimeEqual(signature, sign(key, ['cookie', random]).toString('base64url'));
}

function sign(key: string, parts: string[]): Buffer {
  return createHmac('sha256', Buffer.from(key, 'base64url')).update(JSON.stringify(parts)).digest();
}
