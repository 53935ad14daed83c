import { createHash } from 'node:crypto';
import type { Password } from '../security/password-rules.ts';
import { type InstrumentCall, uninstrumented } from '../telemetry/telemetry.ts';
import { readAtMost, request } from './bounded-answer.ts';

/** Whether a password is known from a data breach. @throws Error if the service does not answer. */
export type BreachedPasswords = (password: Password) => Promise<boolean>;

const what = 'breached passwords';
const largestAnswerBytes = 1_000_000;
const prefixLength = 5;

/**
 * Returns the look-up of breached passwords at a service with the range API of Have I Been Pwned: it gets the first five
 * characters of the password's SHA-1 hash and answers every hash that begins so, of which only this process knows
 * whether one is the password's. The answer is padded, so that its length tells nothing either.
 */
export function createBreachedPasswords(
  { url, timeoutSeconds }: { url: string; timeoutSeconds: number },
  instrument: InstrumentCall = uninstrumented,
): BreachedPasswords {
  const base = url.replace(/\/$/, '');

  async function hashesFrom(prefix: string): Promise<string[]> {
    const answer = await request(what, `${base}/${prefix}`, {
      redirect: 'error',
      // The timeout includes the body.
      signal: AbortSignal.timeout(timeoutSeconds * 1000),
      headers: { 'add-padding': 'true', 'user-agent': 'Gatehouse' },
    });
    if (!answer.ok) {
      await answer.body?.cancel();
      throw new Error(`${what}: status ${answer.status}`);
    }
    return (await readAtMost(what, answer, largestAnswerBytes)).split('\n');
  }

  return async (password) => {
    const hash = createHash('sha1').update(password).digest('hex').toUpperCase();
    const rest = hash.slice(prefixLength);
    const lines = await instrument('range', () => hashesFrom(hash.slice(0, prefixLength)), isRefused);
    // "SUFFIX:COUNT"; a line of the padding has the count 0.
    return lines.some((line) => {
      const [suffix, count] = line.trim().split(':');
      return suffix?.toUpperCase() === rest && Number(count) > 0;
    });
  };
}

/** Whether the service answered that it does not take our request. */
function isRefused(error: unknown): boolean {
  return error instanceof Error && /: status 4\d\d$/.test(error.message);
}
