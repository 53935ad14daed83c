import type { Ask } from '../../providers/payment.ts';

/** The provider refuses a request for more. */
const mostKeys = 10;

/** The provider's prices that hold one of the lookup keys, asked for in as many requests as they need. */
export async function listByLookupKey(ask: Ask, lookupKeys: string[], { active }: { active: boolean }) {
  const keys = [...new Set(lookupKeys)];
  const pages = Array.from({ length: Math.ceil(keys.length / mostKeys) }, (_, page) =>
    keys.slice(page * mostKeys, (page + 1) * mostKeys),
  );
  const listed = await Promise.all(
    pages.map((lookup_keys) => ask((provider) => provider.prices.list({ lookup_keys, active, limit: 100 }))),
  );
  return listed.flatMap(({ data }) => data);
}
