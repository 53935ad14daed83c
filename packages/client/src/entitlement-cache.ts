import { GatehouseError } from './error.ts';

export type CacheOptions = {
  /** How long a stored answer is returned without a request. 30,000 unless set. */
  freshMilliseconds?: number;
  /** How long it is returned at once while a request renews it, unless Gatehouse refuses that. 300,000 unless set. */
  staleMilliseconds?: number;
};

/** `names` is how the answer names its organisation; null if it does not. */
type Entry = { value: unknown; at: number; names: { id: string; slug: string } | null };

const maxEntries = 10_000;

/** Caches entitlements by organisation. */
export class EntitlementCache {
  readonly #fresh: number;
  readonly #stale: number;
  readonly #entries = new Map<string, Entry>();
  readonly #running = new Map<string, Promise<unknown>>();
  #emptied = 0;

  constructor({ freshMilliseconds = 30_000, staleMilliseconds = 300_000 }: CacheOptions) {
    this.#fresh = freshMilliseconds;
    this.#stale = staleMilliseconds;
  }

  /** Returns the cached answer, else the result of `ask`. Parallel calls share one request. */
  async read<Answer>(organisation: string, name: string, ask: () => Promise<Answer>): Promise<Answer> {
    const key = JSON.stringify([organisation, name]);
    const entry = this.#entries.get(key);
    const age = entry === undefined ? Number.POSITIVE_INFINITY : performance.now() - entry.at;
    if (entry === undefined || age >= this.#stale) return this.#renew(key, ask);
    if (age >= this.#fresh) this.#renew(key, ask).catch(() => {});
    return entry.value as Answer;
  }

  /**
   * Drops the entries of an organisation, named by its id or slug, and those that may be about it: their answer
   * names no organisation, and the request named it in the other of the two ways.
   */
  forget(reference: string): void {
    for (const [key, { names }] of this.#entries) {
      const [asked] = JSON.parse(key) as [string];
      const isNamed = asked === reference || names?.id === reference || names?.slug === reference;
      const isUnknown = names === null && isId(asked) !== isId(reference);
      if (isNamed || isUnknown) this.#entries.delete(key);
    }
    this.#discardRunning();
  }

  empty(): void {
    this.#entries.clear();
    this.#discardRunning();
  }

  /** The answer to a running request may be older than the change that emptied the cache, so it is not stored. */
  #discardRunning(): void {
    this.#emptied += 1;
    this.#running.clear();
  }

  #renew<Answer>(key: string, ask: () => Promise<Answer>): Promise<Answer> {
    const running = this.#running.get(key);
    if (running !== undefined) return running as Promise<Answer>;

    const emptied = this.#emptied;
    const renewed = ask().then(
      (value) => {
        if (emptied === this.#emptied) this.#store(key, value);
        return value;
      },
      (error) => {
        if (emptied === this.#emptied) this.#running.delete(key);
        if (isClientError(error)) this.#entries.delete(key);
        throw error;
      },
    );
    this.#running.set(key, renewed);
    return renewed;
  }

  #store(key: string, value: unknown): void {
    this.#running.delete(key);
    this.#entries.delete(key);
    if (this.#entries.size >= maxEntries) this.#entries.delete(this.#entries.keys().next().value ?? '');
    const { organisation } = value as { organisation?: { id: string; slug: string } };
    this.#entries.set(key, { value, at: performance.now(), names: organisation ?? null });
  }
}

/** Whether Gatehouse itself answered that the caller may not read this, or that it does not exist. */
function isClientError(error: unknown): boolean {
  if (!(error instanceof GatehouseError) || error.code === null) return false;
  return error.status >= 400 && error.status < 500 && error.status !== 429;
}

function isId(reference: string): boolean {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(reference);
}
