import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { App } from '../app.ts';
import { AppError } from '../platform/errors.ts';
import { message } from '../platform/messages.ts';
import type { KeyPrincipal } from './principal.ts';

const requestsPerSecond = 100;

/**
 * Counted in each process and not in the database: the limit keeps one key from taking a node's time, and a statement
 * for each request would take more of that than most requests do.
 */
const requests = new RateLimiterMemory({ points: requestsPerSecond, duration: 1 });

/**
 * Counts a request with an API key, of which each node answers 100 a second (services.md). RATE_LIMITS=off lifts it.
 *
 * @throws AppError TOO_MANY above it.
 */
export async function limitKey({ config }: Pick<App, 'config'>, { key }: Pick<KeyPrincipal, 'key'>): Promise<void> {
  if (!config.rateLimits) return;
  try {
    await requests.consume(key.id);
  } catch {
    throw new AppError('TOO_MANY', message('too_many_attempts'), { retryAfterSeconds: 1 });
  }
}
