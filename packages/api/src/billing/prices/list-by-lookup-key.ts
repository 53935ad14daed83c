import type { Ask } from '../../platform/providers/payment.ts';

/** The provider refuses a request with more lookup keys. */
const maxKeys = 10;

/** Returns the provider's prices that hold one of the lookup keys. @throws AppError PROVIDER_UNAVAILABLE. */
export async function listByLookupKey(ask: Ask, lookupKeys: string[], { active }: { active: boolean }) {
  const keys = [...new Set(lookupKeys)];
  const pages = Array.from({ length: Math.ceil(keys.length / maxKeys) }, (_, page) =>
    keys.slice(page * maxKeys, (page + 1) * maxKeys),
  );
  const listed = await Promise.all(
    pages.map((lookup_keys) => ask((provider) => provider.prices.list({ lookup_keys, active, limit: 100 }))),
  );
  return listed.flatMap(({ data }) => data);
}
