import type { Session, Token, TokenClaims } from './answers.ts';
import { GatehouseError, isUnavailable } from './error.ts';

type Known = { session: Session; token: string; renewAt: number };

type Tokens = {
  issue: (cookie: string) => Promise<Token>;
  verify: (token: string) => Promise<TokenClaims>;
};

const maxSessions = 10_000;
/** A session whose token could not be got is tried again after this time. */
const pauseMilliseconds = 5_000;

/**
 * Keeps a token beside each session that was verified, so that a product goes on while Gatehouse does not answer: until
 * the token expires, and with the role and the scopes that it states. The tokens stay in this process.
 */
export class SessionTokens {
  readonly #tokens: Tokens;
  readonly #known = new Map<string, Known>();
  readonly #triedAt = new Map<string, number>();
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(tokens: Tokens) {
    this.#tokens = tokens;
  }

  /**
   * Returns what `ask` answers, or the session of the token if Gatehouse does not answer.
   *
   * @throws what `ask` throws, if there is no token that is valid now.
   */
  async verify(cookie: string, ask: () => Promise<Session | null>): Promise<Session | null> {
    // While Gatehouse is away, not every request waits for it to fail.
    if (performance.now() - this.#failedAt < pauseMilliseconds) {
      const session = await this.#recall(cookie);
      if (session !== null) return session;
    }
    try {
      const session = await ask();
      this.#failedAt = Number.NEGATIVE_INFINITY;
      if (session === null) this.forget(cookie);
      else this.#remember(cookie, session);
      return session;
    } catch (error) {
      if (!isUnavailable(error)) {
        // A call that its caller ended says nothing of the session.
        if (error instanceof GatehouseError) this.forget(cookie);
        throw error;
      }
      this.#failedAt = performance.now();
      const session = await this.#recall(cookie);
      if (session === null) throw error;
      return session;
    }
  }

  /** The session was ended. */
  forget(cookie: string): void {
    this.#known.delete(cookie);
    this.#triedAt.delete(cookie);
  }

  /** Stores the session, and gets a token beside it once half of the last one's life has passed. */
  #remember(cookie: string, session: Session): void {
    const known = this.#known.get(cookie);
    if (known !== undefined) known.session = session;
    const isTried = performance.now() - (this.#triedAt.get(cookie) ?? Number.NEGATIVE_INFINITY) < pauseMilliseconds;
    if (isTried || (known !== undefined && performance.now() < known.renewAt)) return;

    limit(this.#triedAt);
    this.#triedAt.set(cookie, performance.now());
    void this.#renew(cookie, session).catch(() => {});
  }

  async #renew(cookie: string, session: Session): Promise<void> {
    const { token } = await this.#tokens.issue(cookie);
    // Reads the keys too, which are needed when Gatehouse no longer answers.
    const { iat, exp } = await this.#tokens.verify(token);
    // The session was ended meanwhile.
    if (!this.#triedAt.has(cookie)) return;
    limit(this.#known);
    this.#known.set(cookie, { session, token, renewAt: performance.now() + ((exp - iat) * 1000) / 2 });
    this.#triedAt.delete(cookie);
  }

  async #recall(cookie: string): Promise<Session | null> {
    const known = this.#known.get(cookie);
    if (known === undefined) return null;
    try {
      const { sub, organisation, role, scopes } = await this.#tokens.verify(known.token);
      const { session } = known;
      const isSame = sub === session.user.id && organisation === (session.organisation?.id ?? null);
      return isSame ? { ...session, role, scopes } : null;
    } catch {
      return null;
    }
  }
}

function limit(map: Map<string, unknown>): void {
  if (map.size >= maxSessions) map.delete(map.keys().next().value ?? '');
}
