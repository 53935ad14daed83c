import type { Provider } from '../provider/provider.ts';

/** API requests that are held back. */
export interface HeldRequests {
  /** Returns how many requests wait. */
  count(): number;
  /** Ends the hold: the waiting requests are processed now, later ones when they arrive. */
  release(): void;
}

/** Holds requests to the API back before they are processed, and ends an earlier hold. */
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
