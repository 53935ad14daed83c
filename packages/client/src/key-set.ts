import { GatehouseError } from './error.ts';
import { type SendOptions, send } from './send.ts';

/** Derived from `importKey`, because not every library of types declares `CryptoKey`. */
type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;
type PublicKey = { kty: string; crv: string; x: string; kid: string; alg: string };

const freshMilliseconds = 300_000;
/** How long keys are used while Gatehouse does not answer. No key signs a token that lives longer than an hour. */
const staleMilliseconds = 3_600_000;
/** Tokens with unknown keys cause at most one request in this time. */
const pauseMilliseconds = 5_000;

/** The public keys of one Gatehouse. They are kept for five minutes, and read again if a token names an unknown key. */
export class KeySet {
  readonly #options: SendOptions;
  #keys = new Map<string, Promise<Key>>();
  #readAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | null = null;

  constructor(options: SendOptions) {
    this.#options = options;
  }

  /** Returns the key of this id; null if Gatehouse has none. @throws GatehouseError if the keys cannot be read. */
  async find(kid: string): Promise<Key | null> {
    const age = performance.now() - this.#readAt;
    const mayAsk = this.#running !== null || performance.now() - this.#triedAt >= pauseMilliseconds;
    if (this.#keys.has(kid) && age < staleMilliseconds) {
      // A token whose key is known does not wait for Gatehouse.
      if (age >= freshMilliseconds && mayAsk) this.#read().catch(() => {});
    } else if (mayAsk) {
      await this.#read();
    } else if (this.#keys.size === 0 || age >= staleMilliseconds) {
      throw unreadable();
    }
    return (await this.#keys.get(kid)) ?? null;
  }

  /** Parallel calls share one request. */
  #read(): Promise<void> {
    this.#running ??= this.#ask().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #ask(): Promise<void> {
    this.#triedAt = performance.now();
    const call = { path: '/.well-known/jwks.json', repeatable: true };
    const { keys } = (await send({ ...this.#options, apiKey: undefined }, call)) as { keys?: PublicKey[] };
    if (!Array.isArray(keys)) throw unreadable();
    this.#keys = new Map(
      keys.filter(({ alg, crv }) => alg === 'EdDSA' && crv === 'Ed25519').map((key) => [key.kid, importKey(key)]),
    );
    this.#readAt = performance.now();
  }
}

function unreadable(): GatehouseError {
  return new GatehouseError(0, 'UNREACHABLE', 'The keys of Gatehouse could not be read.');
}

function importKey({ kty, crv, x }: PublicKey): Promise<Key> {
  const key = crypto.subtle.importKey('jwk', { kty, crv, x }, { name: 'Ed25519' }, false, ['verify']);
  // A caller that needs the key gets the error from its own await.
  key.catch(() => {});
  return key;
}
