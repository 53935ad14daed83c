import type { Ask } from './payment.ts';

type Sdk = Parameters<Parameters<Ask>[0]>[0];

type Page<Item> = { data: Item[]; has_more: boolean };

type Place = { limit: number; starting_after?: string };

const mostPages = 10;

/**
 * What is on all pages of one of the provider's lists, a thousand entries at most. Each
 * page is a question of its own, so that the bounds of a question hold for each.
 */
export async function listAll<Item extends { id: string }>(
  ask: Ask,
  list: (provider: Sdk, place: Place) => Promise<Page<Item>>,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let page = 0; page < mostPages; page++) {
    const last = items.at(-1)?.id;
    const { data, has_more } = await ask((provider) =>
      list(provider, { limit: 100, ...(last === undefined ? {} : { starting_after: last }) }),
    );
    items.push(...data);
    if (!has_more || data.length === 0) break;
  }
  return items;
}
