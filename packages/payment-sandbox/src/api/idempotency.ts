import { createHash } from 'node:crypto';
import type { SavedAnswer } from '../provider/bookkeeping.ts';
import type { Provider } from '../provider/provider.ts';
import { ApiError } from '../routing/api-error.ts';

const keptMilliseconds = 24 * 3_600_000;
/** Keys whose first request has not been answered. */
const inUse = new WeakMap<Provider, Set<string>>();

/** Returns a hash of a request, to detect that an idempotency key is reused for another request. */
export function fingerprintOf(method: string, path: string, body: string): string {
  return createHash('sha256').update(`${method} ${path}\n${body}`).digest('hex');
}

/**
 * Returns the answer to the first request with this key, if there was one within 24 hours.
 *
 * @throws ApiError idempotency_error if the parameters differ, or if the first request has not been answered.
 */
export function savedAnswer(provider: Provider, key: string, fingerprint: string): SavedAnswer | undefined {
  const saved = provider.state.saved_answers[key];
  if (saved && Date.now() - saved.at < keptMilliseconds) {
    if (saved.fingerprint === fingerprint) return saved;
    throw new ApiError(
      400,
      `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`,
      { type: 'idempotency_error' },
    );
  }
  if (inUse.get(provider)?.has(key)) {
    throw new ApiError(
      409,
      `There is currently another in-progress request using this Idempotent Key (that probably means you submitted twice, and the other request is still going through): ${key}. Please try again later.`,
      { type: 'idempotency_error', code: 'idempotency_key_in_use' },
    );
  }
  return undefined;
}

/** Marks a key as in use. Returns a function that removes the mark. */
export function markInUse(provider: Provider, key: string): () => void {
  const keys = inUse.get(provider) ?? new Set();
  inUse.set(provider, keys);
  keys.add(key);
  return () => keys.delete(key);
}

/** Stores the answer to a request for 24 hours of the machine's clock, and deletes older answers. */
export function saveAnswer(provider: Provider, key: string, answer: Omit<SavedAnswer, 'at'>): void {
  const { saved_answers: saved } = provider.state;
  saved[key] = { ...answer, at: Date.now() };
  for (const [old, { at }] of Object.entries(saved)) if (Date.now() - at > keptMilliseconds) delete saved[old];
}
