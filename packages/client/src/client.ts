import type {
  Change,
  CheckedEntitlement,
  Entitlements,
  Gauge,
  HeldUsage,
  ListedOrganisation,
  Member,
  Session,
  Subscription,
  Token,
  TokenClaims,
  UsageAnswer,
  UsageHistory,
  UsageReport,
} from './answers.ts';
import { checkIn } from './check-entitlement.ts';
import { type CookieSource, sessionCookies } from './cookies.ts';
import { type CacheOptions, EntitlementCache } from './entitlement-cache.ts';
import { GatehouseError, isUnavailable } from './error.ts';
import { type Follower, type Following, followChanges } from './follow-changes.ts';
import { KeySet } from './key-set.ts';
import { managing } from './management.ts';
import { type Call, type SendOptions, send, untilAborted } from './send.ts';
import { SessionTokens } from './session-tokens.ts';
import { type TokenExpectation, verifyToken } from './verify-token.ts';

export type * from './answers.ts';
export type { CookieSource } from './cookies.ts';
export type { CacheOptions } from './entitlement-cache.ts';
export { GatehouseError, type TokenReason } from './error.ts';
export type { Follower, Following } from './follow-changes.ts';
export {
  type GuardAnswer,
  type GuardHook,
  type GuardHooks,
  type GuardOptions,
  guardNode,
  guardRequest,
  type NodeRequest,
  type NodeResponse,
  type Refusal,
} from './guard.ts';
export type { TokenExpectation } from './verify-token.ts';

export type Options = SendOptions & {
  /** PUBLIC_BASE_URL of Gatehouse, to which browsers are sent and which tokens name, if `url` is an internal address. */
  publicUrl?: string;
  /** How long answers about entitlements are cached; false turns the cache off. */
  cache?: (CacheOptions & { follow?: boolean }) | false;
  /** What is answered while Gatehouse does not answer. Nothing unless set; a reservation never. */
  failOpen?: FailOpen;
};

type FailOpen = {
  /** For how long after they were read entitlements are answered. Needs the cache. */
  entitlementsMilliseconds?: number;
  /**
   * Answers sessions by a token, until it expires. It is got beside each session for this audience: the origin of your
   * product, one of RETURN_ORIGINS. Needs TOKEN_TTL_SECONDS at Gatehouse. A role or session that ended meanwhile counts
   * until then.
   */
  sessionAudience?: string;
};

type Signal = { signal?: AbortSignal };
type Request = { organisation: string; meter: string; amount?: number; idempotencyKey?: string };
type Hold = { hold: string };
type Report = { organisation: string; meter: string; amount: number; idempotencyKey?: string; at?: Date };
type Page = { after?: string; limit?: number };

/**
 * Creates a client of one Gatehouse. Without an API key it can only verify sessions.
 * Requests that are safe to repeat are repeated. Every function throws a GatehouseError for an error of
 * Gatehouse, and the reason of the signal once that is aborted.
 *
 * @throws TypeError if `url` is not a URL.
 */
export function createGatehouse({ cache: cacheOptions = {}, failOpen = {}, publicUrl, ...sendOptions }: Options) {
  const cache =
    cacheOptions === false ? null : new EntitlementCache(cacheOptions, failOpen.entitlementsMilliseconds ?? 0);
  const keys = new KeySet(sendOptions);
  const origin = new URL(sendOptions.url).origin;
  const publicOrigin = publicUrl === undefined ? origin : new URL(publicUrl).origin;
  let following: Following | null = null;
  let closed = false;
  const ask = <Answer>(call: Call) => send(sendOptions, call) as Promise<Answer>;
  const managed = managing(ask);
  const get = <Answer>(path: string, query: Call['query'], { signal }: Signal = {}) =>
    ask<Answer>({ path, query: query ?? {}, signal, repeatable: true });

  /**
   * Reads the entitlement of a name, or all without one, through the cache. The first call starts the feed that
   * outdates the cache. Calls share a request, so a signal ends the wait of its own call alone.
   */
  async function readEntitlements<Answer>(organisation: string, name: string, options: Signal = {}): Promise<Answer> {
    const all = `/api/organisations/${encodeURIComponent(organisation)}/entitlements`;
    const path = name === '' ? all : `${all}/${encodeURIComponent(name)}`;
    if (cache === null || closed) return get(path, {}, options);
    options.signal?.throwIfAborted();
    if (cacheOptions !== false && cacheOptions.follow !== false && sendOptions.apiKey !== undefined) {
      following ??= follow({
        onChange: ({ organisation }) => (organisation === null ? undefined : cache.outdate(organisation)),
        onReset: () => cache.outdateAll(),
        onError: (error) => {
          // The answers to a key that was revoked must not stay in the cache.
          if (error instanceof GatehouseError && (error.status === 401 || error.status === 403)) cache.empty();
        },
      });
    }
    return untilAborted(
      cache.read(organisation, name, () => get<Answer>(path, {})),
      options.signal,
    );
  }

  /** Reads a session by its cookies; null if it has ended. */
  async function readSession(cookie: string, signal?: AbortSignal): Promise<Session | null> {
    try {
      return await ask<Session>({ path: '/api/session', cookie, signal, repeatable: true });
    } catch (error) {
      if (error instanceof GatehouseError && error.status === 401) return null;
      throw error;
    }
  }

  const issue = (by: Pick<Call, 'cookie' | 'signal'>, audience: string | undefined) =>
    ask<Token>({ method: 'POST', path: '/api/token', body: { audience }, ...by, repeatable: true });
  const verify = (
    token: string,
    { audience = publicOrigin, issuer = publicOrigin, toleranceSeconds = 5 }: TokenExpectation = {},
  ): Promise<TokenClaims> => verifyToken(keys, token, { audience, issuer, toleranceSeconds });
  const { sessionAudience } = failOpen;
  const sessionTokens =
    sessionAudience === undefined
      ? null
      : new SessionTokens({
          issue: (cookie) => issue({ cookie, signal: undefined }, sessionAudience),
          verify: (token) => verify(token, { audience: sessionAudience }),
        });

  /** Checks one entitlement: by all of them if those are fresh and allow it, else by asking for it. */
  async function check(organisation: string, name: string, options?: Signal): Promise<CheckedEntitlement> {
    const fresh = cache?.peek<Entitlements>(organisation, '', 'fresh');
    const known = fresh && checkIn(fresh, name);
    if (known?.allowed) return known;
    try {
      return await readEntitlements<CheckedEntitlement>(organisation, name, options);
    } catch (error) {
      const old = isUnavailable(error) ? cache?.peek<Entitlements>(organisation, '', 'failOpen') : undefined;
      const answer = old && checkIn(old, name);
      if (!answer) throw error;
      return answer;
    }
  }

  /**
   * Sends usage, which changes entitlements: the next reads ask for them. After an error nothing or little has changed,
   * so they return the stored ones while those are renewed.
   */
  async function sendUsage<Answer>(organisations: string[], call: Call): Promise<Answer> {
    const concerned = new Set(organisations);
    try {
      const answer = await ask<Answer>(call);
      for (const organisation of concerned) cache?.outdate(organisation);
      return answer;
    } catch (error) {
      for (const organisation of concerned) cache?.age(organisation);
      throw error;
    }
  }

  function reserveOrRelease<Answer>(
    operation: 'reserve' | 'release',
    request: Request & { expires?: number },
    { signal }: Signal,
  ): Promise<Answer> {
    const { organisation, meter, amount, expires, idempotencyKey = crypto.randomUUID() } = request;
    const body = { organisation, meter, amount, expires, idempotency_key: idempotencyKey };
    return sendUsage([organisation], {
      method: 'POST',
      path: `/api/usage/${operation}`,
      body,
      signal,
      repeatable: true,
    });
  }

  /**
   * Reserves an amount of a meter within the plan's limit. The same idempotency key has the same answer for 48 hours, also
   * a refusal: after a change of plan use a new one. With `expires`, in seconds, it is a hold, which counts until
   * it is released or that time has passed, for good once it is committed.
   *
   * @throws GatehouseError LIMIT_REACHED above the limit.
   */
  function reserve(request: Request & { expires: number }, options?: Signal): Promise<HeldUsage>;
  function reserve(request: Request, options?: Signal): Promise<UsageAnswer>;
  function reserve(request: Request & { expires?: number }, options: Signal = {}): Promise<UsageAnswer> {
    return reserveOrRelease('reserve', request, options);
  }

  /** Ends a hold. The same end again is answered alike, so that it may be repeated. */
  function endHold(operation: 'commit' | 'release', { hold }: Hold, { signal }: Signal): Promise<UsageAnswer> {
    return ask({ method: 'POST', path: `/api/usage/${operation}`, body: { hold }, signal, repeatable: true });
  }

  function follow(follower: Follower): Following {
    return followChanges(
      ({ after, wait, signal }) =>
        ask({ path: '/api/changes', query: { after, wait }, waitMilliseconds: wait * 1000, signal, repeatable: true }),
      follower,
    );
  }

  return {
    url: origin,
    /** The origin of Gatehouse for browsers. */
    publicUrl: publicOrigin,

    sessions: {
      /** Returns the session of a request to your service, by its cookies; null if it has none. */
      async verify(source: CookieSource, { signal }: Signal = {}): Promise<Session | null> {
        const cookie = sessionCookies(source);
        if (cookie === '') return null;
        const read = () => readSession(cookie, signal);
        return sessionTokens === null ? read() : sessionTokens.verify(cookie, read);
      },
      /** The page of Gatehouse that signs a browser out and leads back to `returnTo`, of an origin in RETURN_ORIGINS. */
      signOutUrl(returnTo: string): string {
        const url = new URL('/logout', publicOrigin);
        url.searchParams.set('return_to', returnTo);
        return url.href;
      },
      /** Ends the session of a request to your service. Its cookies stay in the browser, and are no longer valid. */
      async end(source: CookieSource, { signal }: Signal = {}): Promise<void> {
        const cookie = sessionCookies(source);
        if (cookie === '') return;
        await ask({ method: 'POST', path: '/api/logout', cookie, signal, repeatable: true });
        sessionTokens?.forget(cookie);
      },
    },

    tokens: {
      /**
       * Exchanges the session of a request for a token that your other services verify.
       *
       * @throws TypeError without a request; GatehouseError UNAUTHENTICATED if it has no session.
       */
      async issueForSession(
        source: CookieSource,
        { audience, signal }: Signal & { audience?: string } = {},
      ): Promise<Token> {
        if (source === undefined || source === null) throw new TypeError('Pass the request whose session is meant.');
        const cookie = sessionCookies(source);
        if (cookie === '') throw new GatehouseError(401, 'UNAUTHENTICATED', 'Sign in first.');
        return issue({ cookie, signal }, audience);
      },
      /** Exchanges the API key of this client for a token that your other services verify. */
      issueForKey: ({ audience, signal }: Signal & { audience?: string } = {}): Promise<Token> =>
        issue({ signal }, audience),
      /** Returns the claims of a token. @throws GatehouseError UNAUTHENTICATED, with its `reason`, if it is not valid now. */
      verify,
    },

    /**
     * Returns the plan, the usage and the prices of the signed-in user's organisation, by the session's own cookie: where
     * Gatehouse has another host than the product, ask `entitlements.get`.
     */
    subscription: (source: CookieSource, { signal }: Signal = {}) =>
      ask<Subscription>({ path: '/api/subscription', cookie: sessionCookies(source), signal, repeatable: true }),

    entitlements: {
      /** Returns the limits and features of an organisation's plan, from the cache if possible. */
      get: (organisation: string, options?: Signal) => readEntitlements<Entitlements>(organisation, '', options),
      /**
       * Returns whether an organisation may use a feature or one more of a meter. Only a reservation
       * guarantees an amount of a meter.
       */
      check,
    },

    usage: {
      reserve,
      /** Makes what a hold reserved final. @throws GatehouseError CONFLICT if it was released or has expired. */
      commit: (hold: Hold, options: Signal = {}) => endHold('commit', hold, options),
      /**
       * Releases an amount of a gauge, or a hold of any meter. Cached entitlements count a released hold until they are
       * read again.
       *
       * @throws GatehouseError CONFLICT if the hold was committed or has expired.
       */
      release: (request: Request | Hold, options: Signal = {}): Promise<UsageAnswer> =>
        'hold' in request ? endHold('release', request, options) : reserveOrRelease('release', request, options),
      /** Counts up to 1,000 records, all or none, also above the limit. */
      report: (records: Report[], { signal }: Signal = {}) =>
        sendUsage<UsageReport>(
          records.map(({ organisation }) => organisation),
          {
            method: 'POST',
            path: '/api/usage/report',
            body: {
              records: records.map(({ idempotencyKey = crypto.randomUUID(), ...record }) => {
                return { ...record, idempotency_key: idempotencyKey };
              }),
            },
            signal,
            repeatable: true,
          },
        ),
      /**
       * Sets a gauge. With `at`, the time when the value was read, a value older than the last change (a set, a reservation
       * or a release) changes nothing, and the answer says so by `superseded`. Only with it is a request without an answer
       * repeated.
       */
      set: (
        { meter, ...body }: { organisation: string; meter: string; used: number; at?: Date },
        { signal }: Signal = {},
      ) =>
        sendUsage<Gauge>([body.organisation], {
          method: 'PUT',
          path: `/api/usage/${encodeURIComponent(meter)}`,
          body,
          signal,
          repeatable: body.at !== undefined,
        }),
      /** Returns a meter's history by day, 30 days unless set. */
      read: ({ meter, ...query }: { organisation: string; meter: string; days?: number }, options?: Signal) =>
        get<UsageHistory>(`/api/usage/${encodeURIComponent(meter)}`, query, options),
    },

    users: managed.users,
    invitations: managed.invitations,
    overrides: managed.overrides,
    organisations: {
      ...managed.organisations,
      list: (page: Page = {}, options?: Signal) =>
        get<{ organisations: ListedOrganisation[]; next: string | null }>('/api/organisations', page, options),
    },
    members: {
      ...managed.members,
      list: ({ organisation, ...page }: Page & { organisation: string }, options?: Signal) =>
        get<{ members: Member[]; next: string | null }>(
          `/api/organisations/${encodeURIComponent(organisation)}/members`,
          page,
          options,
        ),
    },

    changes: {
      /** Returns the changes after a cursor. @throws GatehouseError GONE if they are no longer kept. */
      since: (
        { wait = 0, ...query }: { after?: string; wait?: number; limit?: number } = {},
        { signal }: Signal = {},
      ) =>
        ask<{ changes: Change[]; next: string }>({
          path: '/api/changes',
          query: { ...query, wait },
          waitMilliseconds: wait * 1000,
          signal,
          repeatable: true,
        }),
      follow,
    },

    /** Ends the feed that outdates the cache. Feeds that you follow are closed by their own `close`. */
    async close(): Promise<void> {
      closed = true;
      cache?.empty();
      await following?.close();
    },
  };
}

export type Gatehouse = ReturnType<typeof createGatehouse>;
