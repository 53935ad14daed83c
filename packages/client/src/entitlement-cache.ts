import { GatehouseError, isUnavailable } from './error.ts';

export type CacheOptions = {
  /** How long a stored answer is returned without a request. 30,000 unless set. */
  freshMilliseconds?: number;
  /** How long it is returned at once while a request renews it, unless Gatehouse refuses that. 300,000 unless set. */
  staleMilliseconds?: number;
};

type Entry = {
  value: unknown;
  /** When it was asked for. */
  at: number;
  /** How the answer names its organisation; null if it does not. */
  names: { id: string; slug: string } | null;
  /** Something changed since: the next read asks Gatehouse first. */
  isOutdated: boolean;
};

const maxEntries = 10_000;
/** While Gatehouse does not answer, a read that may be answered by a stale entry tries it again after this time. */
const pauseMilliseconds = 5_000;

/** Caches entitlements by organisation. An entry is dropped only if Gatehouse refuses its renewal. */
export class EntitlementCache {
  readonly #fresh: number;
  readonly #stale: number;
  readonly #failOpen: number;
  #entries = new Map<string, Entry>();
  readonly #running = new Map<string, Promise<unknown>>();
  #failedAt = Number.NEGATIVE_INFINITY;

  /** `failOpenMilliseconds` is how long after it was read an answer is returned while Gatehouse does not answer. */
  constructor({ freshMilliseconds = 30_000, staleMilliseconds = 300_000 }: CacheOptions, failOpenMilliseconds = 0) {
    this.#fresh = freshMilliseconds;
    this.#stale = staleMilliseconds;
    this.#failOpen = failOpenMilliseconds;
  }

  /**
   * Returns the cached answer, else the result of `ask`. Parallel calls share one request.
   *
   * @throws what `ask` throws, unless Gatehouse does not answer and the stored answer may still be returned.
   */
  async read<Answer>(organisation: string, name: string, ask: () => Promise<Answer>): Promise<Answer> {
    const key = keyOf(organisation, name);
    const entry = this.#entries.get(key);
    if (entry === undefined) return this.#renew(key, ask);

    const age = performance.now() - entry.at;
    if (!entry.isOutdated && age < this.#stale) {
      if (age >= this.#fresh) this.#renew(key, ask).catch(() => {});
      return entry.value as Answer;
    }
    const mayFailOpen = age < this.#failOpen;
    if (mayFailOpen && performance.now() - this.#failedAt < pauseMilliseconds) return entry.value as Answer;
    try {
      return await this.#renew(key, ask);
    } catch (error) {
      if (mayFailOpen && isUnavailable(error)) return entry.value as Answer;
      throw error;
    }
  }

  /** Returns a fresh answer, or one that may be returned while Gatehouse does not answer; undefined without one. */
  peek<Answer>(organisation: string, name: string, which: 'fresh' | 'failOpen'): Answer | undefined {
    const entry = this.#entries.get(keyOf(organisation, name));
    if (entry === undefined) return undefined;
    const age = performance.now() - entry.at;
    const isUsable = which === 'fresh' ? !entry.isOutdated && age < this.#fresh : age < this.#failOpen;
    return isUsable ? (entry.value as Answer) : undefined;
  }

  /**
   * The entitlements of an organisation have changed: the next reads ask Gatehouse. It is named by its id or slug. An
   * entry whose answer names no organisation counts as one of it if the request named it in the other of the two ways.
   */
  outdate(reference: string): void {
    for (const entry of this.#entriesOf(reference)) entry.isOutdated = true;
    this.#discardRunning(reference);
  }

  /** The entitlements of an organisation may have changed: the next reads return them and renew them. */
  age(reference: string): void {
    for (const entry of this.#entriesOf(reference)) entry.at = Math.min(entry.at, performance.now() - this.#fresh);
    this.#discardRunning(reference);
  }

  /** Changes may have been missed: the next reads ask Gatehouse. */
  outdateAll(): void {
    for (const entry of this.#entries.values()) entry.isOutdated = true;
    this.#discardRunning();
  }

  /** Drops all answers, also those to running requests: the key may no longer read them. */
  empty(): void {
    this.#entries = new Map();
    this.#discardRunning();
  }

  *#entriesOf(reference: string): Generator<Entry> {
    for (const [key, entry] of this.#entries) {
      if (isOf(reference, key, entry)) yield entry;
    }
  }

  /** The answer to a running request may be older than the change: it will be outdated, and the next read asks again. */
  #discardRunning(reference?: string): void {
    for (const key of this.#running.keys()) {
      if (reference === undefined || isOf(reference, key, this.#entries.get(key))) this.#running.delete(key);
    }
  }

  #renew<Answer>(key: string, ask: () => Promise<Answer>): Promise<Answer> {
    const running = this.#running.get(key);
    if (running !== undefined) return running as Promise<Answer>;

    const [entries, at] = [this.#entries, performance.now()];
    const isDiscarded = () => this.#running.get(key) !== renewed;
    const renewed: Promise<Answer> = ask().then(
      (value) => {
        this.#failedAt = Number.NEGATIVE_INFINITY;
        const isOutdated = isDiscarded();
        if (!isOutdated) this.#running.delete(key);
        store(entries, key, { value, at, isOutdated });
        return value;
      },
      (error) => {
        if (!isDiscarded()) this.#running.delete(key);
        if (isRefusal(error)) this.#entries.delete(key);
        if (isUnavailable(error)) this.#failedAt = performance.now();
        throw error;
      },
    );
    this.#running.set(key, renewed);
    return renewed;
  }
}

/** Stores an answer, unless a later request was answered before. Also an outdated one is newer than what is stored. */
function store(entries: Map<string, Entry>, key: string, answer: Omit<Entry, 'names'>): void {
  const stored = entries.get(key);
  if (stored !== undefined && stored.at > answer.at) return;
  entries.delete(key);
  if (entries.size >= maxEntries) entries.delete(entries.keys().next().value ?? '');
  const { organisation } = answer.value as { organisation?: { id: string; slug: string } };
  entries.set(key, { ...answer, names: organisation ?? null });
}

/** Gatehouse reads ids and slugs in any case, and tells them in lower case. */
function keyOf(organisation: string, name: string): string {
  return JSON.stringify([organisation.toLowerCase(), name]);
}

/** Whether a request, or its answer, is about the organisation. Without an answer that names one, it may be. */
function isOf(named: string, key: string, entry: Entry | undefined): boolean {
  const reference = named.toLowerCase();
  const [asked] = JSON.parse(key) as [string];
  const names = entry?.names ?? null;
  if (asked === reference || names?.id === reference || names?.slug === reference) return true;
  return names === null && isId(asked) !== isId(reference);
}

/** Whether Gatehouse itself answered that the caller may not read this, or that it does not exist. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof GatehouseError) || error.code === null) return false;
  return error.status >= 400 && error.status < 500 && error.status !== 429;
}

function isId(reference: string): boolean {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(reference);
}
