import { describe, expect, it } from 'vitest';
import { EntitlementCache } from './entitlement-cache.ts';
import { GatehouseError } from './error.ts';

const one = '019b0000-0000-7000-8000-00000000000a';
const other = '019b0000-0000-7000-8000-00000000000b';

/** Returns a cache with answers about two organisations, by id and slug, of which only `get` names its organisation. */
async function filledCache() {
  const cache = new EntitlementCache({});
  const names = { [one]: 'acme', acme: one, [other]: 'umbra', umbra: other };
  const stored = new Set<string>();
  for (const [reference, twin] of Object.entries(names)) {
    const organisation = reference.includes('-') ? { id: reference, slug: twin } : { id: twin, slug: reference };
    await cache.read(reference, '', async () => ({ organisation }));
    await cache.read(reference, 'sso', async () => ({ allowed: true }));
    stored.add(`${reference} `).add(`${reference} sso`);
  }
  /** Returns the entries that are not in the cache. */
  async function missing() {
    const asked: string[] = [];
    for (const each of stored) {
      const [reference = '', name = ''] = each.split(' ');
      await cache.read(reference, name, async () => {
        asked.push(each);
        return {};
      });
    }
    return asked;
  }
  return { cache, missing };
}

it('asks again about an organisation by its id, and slugs whose answer names no organisation', async () => {
  const { cache, missing } = await filledCache();
  cache.outdate(one);
  expect(await missing()).toEqual([`${one} `, `${one} sso`, 'acme ', 'acme sso', 'umbra sso']);
});

it('asks again about an organisation by its slug, and ids whose answer names no organisation', async () => {
  const { cache, missing } = await filledCache();
  cache.outdate('acme');
  expect(await missing()).toEqual([`${one} `, `${one} sso`, 'acme ', 'acme sso', `${other} sso`]);
});

it('asks again about an organisation that a product writes in other case than the feed', async () => {
  const cache = new EntitlementCache({});
  const asked: string[] = [];
  const read = (reference: string) => cache.read(reference, 'sso', async () => asked.push(reference));
  await read(one.toUpperCase());
  cache.outdate(one);
  await read(one.toUpperCase());
  expect(asked).toHaveLength(2);
});

it.each(['outdate', 'age'] as const)(
  'stores an answer whose request ran during %s of another organisation',
  async (call) => {
    const cache = new EntitlementCache({});
    const asked: string[] = [];
    const read = (reference: string) =>
      cache.read(reference, 'sso', async () => {
        asked.push(reference);
        await Promise.resolve();
        return { allowed: true };
      });
    const running = [read(one), read(other), read('acme')];
    cache[call](one);
    await Promise.all(running);
    asked.length = 0;

    for (const reference of [one, other, 'acme']) await read(reference);
    expect(asked).toEqual([one, 'acme']);
  },
);

describe('while Gatehouse does not answer', () => {
  /** A cache that was asked for a plan, and a request that runs while something changes. */
  async function overtakenCache() {
    const cache = new EntitlementCache({}, 60_000);
    const read = (ask: () => Promise<string>) => cache.read(one, '', ask);
    await read(async () => 'free');
    cache.outdate(one);
    const { promise, resolve: answer } = Promise.withResolvers<string>();
    const overtaken = read(() => promise);
    cache.outdate(one);
    const away = () => read(() => Promise.reject(new GatehouseError(0, 'UNREACHABLE', 'Gatehouse cannot be reached.')));
    return { cache, read, answer, overtaken, away };
  }

  it('tells the answer that a change overtook, not the one before', async () => {
    const { answer, overtaken, away } = await overtakenCache();
    answer('silver');
    expect(await overtaken).toBe('silver');
    expect(await away()).toBe('silver');
  });

  it('keeps the answer to a later request', async () => {
    const { cache, read, answer, overtaken, away } = await overtakenCache();
    await new Promise((resolve) => setTimeout(resolve, 2));
    expect(await read(async () => 'gold')).toBe('gold');
    answer('silver');
    await overtaken;
    cache.outdate(one);
    expect(await away()).toBe('gold');
  });

  it('tells nothing that was asked before the key was refused', async () => {
    const { cache, answer, overtaken, away } = await overtakenCache();
    cache.empty();
    answer('silver');
    await overtaken;
    await expect(away()).rejects.toThrow('cannot be reached');
  });
});
