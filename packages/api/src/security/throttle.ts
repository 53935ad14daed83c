import type { Sql } from 'postgres';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Config } from '../config.ts';
import { Refusal } from '../errors.ts';
import { hashToken } from './token.ts';

/** How many points a key has in a window, whatever the key stands for. */
const windows = {
  'sign-in-pair': { points: 10, minutes: 15 },
  'sign-in-address': { points: 100, minutes: 15 },
  'sign-in-client': { points: 60, minutes: 15 },
  'sign-up-client': { points: 20, minutes: 60 },
  'resend-client': { points: 20, minutes: 60 },
  'idp-start-client': { points: 60, minutes: 10 },
  'idp-callback-client': { points: 60, minutes: 10 },
  'verify-client': { points: 60, minutes: 10 },
} as const;

export type Window = keyof typeof windows;

export type Throttle = {
  /** Takes a point of each key at once. @throws Refusal TOO_MANY with the seconds to wait. */
  take: (keys: Partial<Record<Window, string>>) => Promise<void>;
  /** Gives the points back: what they were taken for does not count. */
  giveBack: (keys: Partial<Record<Window, string>>) => Promise<void>;
  /** Refuses where no point is left, without taking one. @throws Refusal TOO_MANY */
  peek: (keys: Partial<Record<Window, string>>) => Promise<void>;
};

/**
 * Rate limits in PostgreSQL, shared by all nodes. Keys are kept hashed: the table
 * tells nobody which addresses were tried.
 */
export function createThrottle({ rateLimits, databasePrepare }: Config, sql: Sql): Throttle {
  if (!rateLimits) return { take: async () => {}, giveBack: async () => {}, peek: async () => {} };

  const client = {
    async query({ text, values }: { text: string; values?: unknown[] }) {
      const rows = await sql.unsafe(text, (values ?? []) as never[], { prepare: databasePrepare });
      return { rows, rowCount: rows.count };
    },
  };
  const limiters = new Map(
    Object.entries(windows).map(([name, { points, minutes }]) => [
      name,
      new RateLimiterPostgres({
        storeClient: client,
        storeType: 'pool',
        tableName: 'rate_limits',
        tableCreated: true,
        clearExpiredByTimeout: false,
        keyPrefix: name,
        points,
        duration: minutes * 60,
      }),
    ]),
  );

  function each<Result>(
    keys: Partial<Record<Window, string>>,
    act: (limiter: RateLimiterPostgres, key: string, window: Window) => Promise<Result>,
  ): Promise<Result[]> {
    return Promise.all(
      Object.entries(keys).map(([name, key]) =>
        act(limiters.get(name) as RateLimiterPostgres, hashToken(key), name as Window),
      ),
    );
  }

  return {
    async take(keys) {
      await each(keys, async (limiter, key) => {
        try {
          await limiter.consume(key);
        } catch (error) {
          throw refused(error);
        }
      });
    },
    async giveBack(keys) {
      await each(keys, (limiter, key) => limiter.reward(key));
    },
    async peek(keys) {
      await each(keys, async (limiter, key, window) => {
        const state = await limiter.get(key);
        if (state !== null && state.consumedPoints >= windows[window].points) throw refused(state);
      });
    },
  };
}

function refused(cause: unknown): unknown {
  if (!(cause instanceof RateLimiterRes)) return cause;
  return new Refusal('TOO_MANY', 'Too many attempts. Wait a while and try again.', {
    retryAfterSeconds: Math.max(1, Math.ceil(cause.msBeforeNext / 1000)),
  });
}
