import type { Sql } from 'postgres';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Config } from '../config.ts';
import { AppError } from '../errors.ts';
import { message } from '../messages.ts';
import { type ClientAddress, clientKey, clientNetwork } from './client.ts';
import { hashToken } from './token.ts';

/** How many points each key has within how many minutes, by rule. */
const rules = {
  'sign-in-pair': { points: 10, minutes: 15 },
  'sign-in-address': { points: 100, minutes: 15 },
  'sign-in-known': { points: 100, minutes: 15 },
  'sign-in-client': { points: 60, minutes: 15 },
  'sign-in-network': { points: 300, minutes: 15 },
  'sign-up-client': { points: 20, minutes: 60 },
  'resend-client': { points: 20, minutes: 60 },
  'idp-start-client': { points: 60, minutes: 10 },
  'idp-callback-client': { points: 60, minutes: 10 },
  'passkey-options-client': { points: 600, minutes: 10 },
  'verify-client': { points: 60, minutes: 10 },
  'return-url-client': { points: 300, minutes: 10 },
  'shared-token-session': { points: 20, minutes: 1 },
  'api-key-user': { points: 30, minutes: 60 },
  'billing-user': { points: 100, minutes: 10 },
  'billing-organisation': { points: 200, minutes: 10 },
  'confirmation-user': { points: 60, minutes: 10 },
  'billing-contact-user': { points: 30, minutes: 60 },
} as const;

export type Rule = keyof typeof rules;

/** The name of every rule. */
export const ruleNames = Object.keys(rules) as Rule[];

/** The keys from which one point each is taken, by rule: an address, a client, a user, an organisation and others. */
export type Points = Partial<Record<Rule, string>>;

/** How far a window's end that is computed from what is left of it may lie from the stored one; windows last minutes. */
const slackMilliseconds = 1000;

/** A point that was taken: of which stored key, and when the window ends in which it counts, in milliseconds. */
export type Taken = { key: string; windowEnd: number };

export type Throttle = {
  /**
   * Takes a point from each key, in the given order. If a key has none left, the points taken
   * before are given back, so that a refused attempt uses up no shared limit.
   *
   * @throws AppError TOO_MANY with the seconds to wait if a key has no points left.
   */
  take: (points: Points) => Promise<Taken[]>;
  /** Gives points back, for an attempt that does not count. In a later window they are none: they would be credit there. */
  giveBack: (taken: Taken[]) => Promise<void>;
  /**
   * Checks that points are left, without taking one.
   *
   * @throws AppError TOO_MANY with the seconds to wait if a key has no points left.
   */
  peek: (points: Points) => Promise<void>;
};

/**
 * Creates the rate limits. They are stored in PostgreSQL and shared by all processes. Keys are
 * stored hashed, so that the table does not reveal which addresses were tried. `onReject` is called
 * with the rule of each refusal.
 *
 * @throws AppError TOO_MANY from the functions `take` and `peek` of the returned object.
 */
export function createThrottle(
  { rateLimits, databasePrepare }: Config,
  sql: Sql,
  onReject: (rule: Rule) => void = () => {},
): Throttle {
  if (!rateLimits) return { take: async () => [], giveBack: async () => {}, peek: async () => {} };

  const client = {
    async query({ text, values }: { text: string; values?: unknown[] }) {
      const rows = await sql.unsafe(text, (values ?? []) as never[], { prepare: databasePrepare });
      return { rows, rowCount: rows.count };
    },
  };

  function limiterOf(rule: Rule): RateLimiterPostgres {
    return new RateLimiterPostgres({
      storeClient: client,
      storeType: 'pool',
      tableName: 'rate_limits',
      tableCreated: true,
      clearExpiredByTimeout: false,
      keyPrefix: rule,
      points: rules[rule].points,
      duration: rules[rule].minutes * 60,
    });
  }

  const limiters = Object.fromEntries(ruleNames.map((rule) => [rule, limiterOf(rule)])) as Record<
    Rule,
    RateLimiterPostgres
  >;

  async function giveBack(taken: Taken[]): Promise<void> {
    const text = 'update rate_limits set points = points - 1 where key = $1 and expire <= $2';
    for (const { key, windowEnd } of taken) await client.query({ text, values: [key, windowEnd + slackMilliseconds] });
  }

  function takenOf(rule: Rule, key: string, { msBeforeNext }: RateLimiterRes): Taken {
    return { key: limiters[rule].getKey(key), windowEnd: Date.now() + msBeforeNext };
  }

  return {
    async take(points) {
      const taken: Taken[] = [];
      for (const [rule, key] of entriesOf(points)) {
        try {
          taken.push(takenOf(rule, key, await limiters[rule].consume(key)));
        } catch (error) {
          // A refused point is counted too.
          if (error instanceof RateLimiterRes) await giveBack([...taken, takenOf(rule, key, error)]);
          throw refused(error, rule);
        }
      }
      return taken;
    },
    giveBack,
    async peek(points) {
      for (const [rule, key] of entriesOf(points)) {
        const state = await limiters[rule].get(key);
        if (state !== null && state.consumedPoints >= rules[rule].points) throw refused(state, rule);
      }
    },
  };

  function refused(cause: unknown, rule: Rule): unknown {
    if (!(cause instanceof RateLimiterRes)) return cause;
    onReject(rule);
    return new AppError('TOO_MANY', message('too_many_attempts'), {
      retryAfterSeconds: Math.max(1, Math.ceil(cause.msBeforeNext / 1000)),
    });
  }
}

function entriesOf(points: Points): [Rule, string][] {
  return Object.entries(points).map(([rule, key]) => [rule as Rule, hashToken(key)]);
}

/**
 * Checks an attempt that uses up points only if it fails. The points are taken before the
 * check, so that parallel guesses count, and given back if the attempt was right or the check
 * threw: a busy service must not count against the client.
 *
 * @throws AppError TOO_MANY if no points are left; what `check` throws.
 */
export async function countFailures<Answer extends { right: boolean }>(
  throttle: Throttle,
  points: Points,
  check: () => Promise<Answer>,
): Promise<Answer> {
  const taken = await throttle.take(points);
  let isFailure = false;
  try {
    const answer = await check();
    isFailure = !answer.right;
    return answer;
  } finally {
    if (!isFailure) await throttle.giveBack(taken);
  }
}

/** Returns the limits that a wrong password counts in by client: the client, and the /48 of an IPv6 client. */
export function clientSignInLimits(client: ClientAddress): Points {
  const network = clientNetwork(client);
  return { 'sign-in-client': clientKey(client), ...(network !== null && { 'sign-in-network': network }) };
}

/**
 * Returns the limits that a wrong password counts in: those of the client, the pair of address
 * and client, and the address. A known browser or session of the account (`knownAs`, its token
 * or id) has a limit of its own in place of the address's. So failures elsewhere cannot lock the
 * user out, and guesses with a stolen cookie are limited too.
 */
export function passwordLimits({
  email,
  client,
  knownAs,
}: {
  email: string;
  client: ClientAddress;
  knownAs: string | null;
}) {
  const points: Points = {
    ...clientSignInLimits(client),
    'sign-in-pair': `${email} ${clientKey(client)}`,
    ...(knownAs === null ? { 'sign-in-address': email } : { 'sign-in-known': `${email} ${knownAs}` }),
  };
  return points;
}
