import { AppError } from '../../errors.ts';
import type { Ask } from './connection.ts';

type Sdk = Parameters<Parameters<Ask>[0]>[0];

type Page<Item> = { data: Item[]; has_more: boolean };

type Cursor = { limit: number; starting_after?: string };

type List<Item> = (provider: Sdk, cursor: Cursor) => Promise<Page<Item>>;

/**
 * Returns the items of all pages of a list of the provider, however many there are. A list that is incomplete is never
 * returned.
 *
 * @throws AppError PROVIDER_UNAVAILABLE, as `pagesOf`.
 */
export async function listAll<Item extends { id: string }>(ask: Ask, list: List<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const { data } of pagesOf(ask, list)) items.push(...data);
  return items;
}

/**
 * Yields the pages of a list of the provider, up to the last one. Each page is a request of its own, so the time limit
 * applies to each.
 *
 * @throws AppError PROVIDER_UNAVAILABLE if a page cannot be read, or if more are to follow a page that is empty or
 *   leads back to an earlier one: then the list would be incomplete or never end.
 */
export async function* pagesOf<Item extends { id: string }>(ask: Ask, list: List<Item>): AsyncGenerator<Page<Item>> {
  const cursors = new Set<string>();
  for (let cursor: Cursor = { limit: 100 }; ; ) {
    const page = await ask((provider) => list(provider, cursor));
    if (!page.has_more) {
      yield page;
      return;
    }
    const last = page.data.at(-1)?.id;
    if (last === undefined || cursors.has(last)) {
      throw new AppError('PROVIDER_UNAVAILABLE', 'The payment provider’s list is incomplete.');
    }
    yield page;
    cursors.add(last);
    cursor = { limit: 100, starting_after: last };
  }
}
