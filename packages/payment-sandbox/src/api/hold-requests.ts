import type { Provider } from '../provider/provider.ts';

/** API requests that are held back. */
export interface HeldRequests {
  /** How many requests have arrived since, and wait. */
  count(): number;
  /** Processes them, and later requests at once. */
  release(): void;
}

/** Holds the requests to the API back before they are processed. Ends an earlier hold. */
export function holdRequests(provider: Provider): HeldRequests {
  provider.held?.release();
  const waiting: (() => void)[] = [];
  provider.held = {
    wait: () => new Promise((resolve) => waiting.push(resolve)),
    release() {
      provider.held = null;
      for (const go of waiting.splice(0)) go();
    },
  };
  const { release } = provider.held;
  return { count: () => waiting.length, release };
}
