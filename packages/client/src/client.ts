import type { Session, Subscription } from './answers.ts';

export type { Price, Session, Subscription, Tier, Usage } from './answers.ts';

/** The service refused, or answered what is no answer. `code` is one of its error codes, or null. */
export class GatehouseError extends Error {
  override name = 'GatehouseError';
  readonly status: number;
  readonly code: string | null;

  constructor(status: number, code: string | null, sentence: string) {
    super(sentence);
    this.status = status;
    this.code = code;
  }
}

type Options = {
  /** Where Gatehouse is, as an origin: https://id.example.com */
  baseUrl: string;
  timeoutMilliseconds?: number;
};

export type GatehouseClient = {
  /** Null where nobody is signed in. @throws GatehouseError while a gate is shut, or when Gatehouse does not answer well. */
  session: (cookie: string) => Promise<Session | null>;
  /** @throws GatehouseError also where nobody is signed in. */
  subscription: (cookie: string) => Promise<Subscription>;
};

/**
 * Asks Gatehouse on behalf of a request that came to your own service: hand over its
 * Cookie header as it is. Plain JSON over fetch, with the router's own types.
 */
export function createClient({ baseUrl, timeoutMilliseconds = 5000 }: Options): GatehouseClient {
  async function get(path: string, cookie: string): Promise<unknown> {
    const answer = await fetch(new URL(path, baseUrl), {
      headers: { accept: 'application/json', cookie },
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMilliseconds),
    });
    const body: unknown = await answer.json().catch(() => null);
    if (answer.ok) return body;

    const { error, code } = (body ?? {}) as { error?: string; code?: string };
    throw new GatehouseError(answer.status, code ?? null, error ?? `Gatehouse answered ${answer.status}.`);
  }

  return {
    async session(cookie) {
      try {
        return (await get('/api/session', cookie)) as Session;
      } catch (error) {
        if (error instanceof GatehouseError && error.status === 401) return null;
        throw error;
      }
    },
    subscription: async (cookie) => (await get('/api/subscription', cookie)) as Subscription,
  };
}
