import type { Sql } from 'postgres';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Config } from '../config.ts';
import { AppError } from '../errors.ts';
import { hashToken } from './token.ts';

/** How many points a key has in a window, whatever the key stands for. */
const windows = {
  'sign-in-pair': { points: 10, minutes: 15 },
  'sign-in-address': { points: 100, minutes: 15 },
  'sign-in-known': { points: 100, minutes: 15 },
  'sign-in-client': { points: 60, minutes: 15 },
  'sign-in-network': { points: 300, minutes: 15 },
  'sign-up-client': { points: 20, minutes: 60 },
  'resend-client': { points: 20, minutes: 60 },
  'idp-start-client': { points: 60, minutes: 10 },
  'idp-callback-client': { points: 60, minutes: 10 },
  'verify-client': { points: 60, minutes: 10 },
  'way-back-client': { points: 300, minutes: 10 },
} as const;

export type Window = keyof typeof windows;

/** What is counted, and under which key: an address, a client, a network, or a browser of a user. */
export type Taking = Partial<Record<Window, string>>;

export type Throttle = {
  /**
   * Takes a point of each key, in the order given. Where one has none left, those taken
   * are given back: whoever is refused uses up nobody else's.
   *
   * @throws AppError TOO_MANY with the seconds to wait.
   */
  take: (taking: Taking) => Promise<void>;
  /** Gives the points back: what they were taken for does not count. */
  giveBack: (taking: Taking) => Promise<void>;
  /** Refuses where no point is left, without taking one. @throws AppError TOO_MANY */
  peek: (taking: Taking) => Promise<void>;
};

/**
 * Rate limits in PostgreSQL, shared by all nodes; `onReject` hears of each refusal by its rule. Keys are kept hashed: the table
 * tells nobody which addresses were tried.
 */
export function createThrottle(
  { rateLimits, databasePrepare }: Config,
  sql: Sql,
  onReject: (rule: Window) => void = () => {},
): Throttle {
  if (!rateLimits) return { take: async () => {}, giveBack: async () => {}, peek: async () => {} };

  const client = {
    async query({ text, values }: { text: string; values?: unknown[] }) {
      const rows = await sql.unsafe(text, (values ?? []) as never[], { prepare: databasePrepare });
      return { rows, rowCount: rows.count };
    },
  };

  function limiterOf(window: Window): RateLimiterPostgres {
    return new RateLimiterPostgres({
      storeClient: client,
      storeType: 'pool',
      tableName: 'rate_limits',
      tableCreated: true,
      clearExpiredByTimeout: false,
      keyPrefix: window,
      points: windows[window].points,
      duration: windows[window].minutes * 60,
    });
  }

  const limiters = Object.fromEntries(
    Object.keys(windows).map((window) => [window, limiterOf(window as Window)]),
  ) as Record<Window, RateLimiterPostgres>;

  async function giveBack(taking: Taking): Promise<void> {
    for (const [window, key] of entriesOf(taking)) await limiters[window].reward(key);
  }

  return {
    async take(taking) {
      const taken: Taking = {};
      for (const [window, key] of entriesOf(taking)) {
        taken[window] = taking[window];
        try {
          await limiters[window].consume(key);
        } catch (error) {
          if (error instanceof RateLimiterRes) await giveBack(taken);
          throw refused(error, window);
        }
      }
    },
    giveBack,
    async peek(taking) {
      for (const [window, key] of entriesOf(taking)) {
        const state = await limiters[window].get(key);
        if (state !== null && state.consumedPoints >= windows[window].points) throw refused(state, window);
      }
    },
  };

  function refused(cause: unknown, window: Window): unknown {
    if (!(cause instanceof RateLimiterRes)) return cause;
    onReject(window);
    return new AppError('TOO_MANY', 'Too many attempts. Wait a while and try again.', {
      retryAfterSeconds: Math.max(1, Math.ceil(cause.msBeforeNext / 1000)),
    });
  }
}

function entriesOf(taking: Taking): [Window, string][] {
  return Object.entries(taking).map(([window, key]) => [window as Window, hashToken(key)]);
}
