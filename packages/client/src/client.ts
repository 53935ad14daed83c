import type { Session, Subscription } from './answers.ts';

export type { Price, Session, Subscription, Tier, Usage } from './answers.ts';

/** Gatehouse answered with an error, or with something other than JSON. `code` is its error code, or null. */
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
  /** The origin of Gatehouse: https://id.example.com */
  baseUrl: string;
  timeoutMilliseconds?: number;
};

export type GatehouseClient = {
  /** Null if no user is signed in. @throws GatehouseError while a gate is shut, and if Gatehouse answers with another error. */
  session: (cookie: string) => Promise<Session | null>;
  /** @throws GatehouseError also if no user is signed in. */
  subscription: (cookie: string) => Promise<Subscription>;
};

/**
 * A client that asks Gatehouse about a request to your own service. Pass that request's Cookie header
 * unchanged. It sends plain JSON requests with fetch, and has the types of the router.
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
