import type { Ask } from './payment.ts';

type Sdk = Parameters<Parameters<Ask>[0]>[0];

type Page<Item> = { data: Item[]; has_more: boolean };

type Cursor = { limit: number; starting_after?: string };

const maximumPages = 10;

/**
 * Returns the items of all pages of a list of the provider, at most a thousand. Each page is a
 * request of its own, so the time limit applies to each.
 *
 * @throws AppError PROVIDER_UNAVAILABLE if a page cannot be read.
 */
export async function listAll<Item extends { id: string }>(
  ask: Ask,
  list: (provider: Sdk, cursor: Cursor) => Promise<Page<Item>>,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let page = 0; page < maximumPages; page++) {
    const last = items.at(-1)?.id;
    const { data, has_more } = await ask((provider) =>
      list(provider, { limit: 100, ...(last === undefined ? {} : { starting_after: last }) }),
    );
    items.push(...data);
    if (!has_more || data.length === 0) break;
  }
  return items;
}
