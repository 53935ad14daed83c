import { AppError } from '../errors.ts';
import type { Ask } from './payment.ts';

type Sdk = Parameters<Parameters<Ask>[0]>[0];

type Page<Item> = { data: Item[]; has_more: boolean };

type Cursor = { limit: number; starting_after?: string };

/**
 * Returns the items of all pages of a list of the provider, however many there are. Each page is a request of its own,
 * so the time limit applies to each. A list that is incomplete is never returned.
 *
 * @throws AppError PROVIDER_UNAVAILABLE if a page cannot be read, or if a page is empty although more are to follow.
 */
export async function listAll<Item extends { id: string }>(
  ask: Ask,
  list: (provider: Sdk, cursor: Cursor) => Promise<Page<Item>>,
): Promise<Item[]> {
  const items: Item[] = [];
  for (;;) {
    const last = items.at(-1)?.id;
    const { data, has_more } = await ask((provider) =>
      list(provider, { limit: 100, ...(last === undefined ? {} : { starting_after: last }) }),
    );
    items.push(...data);
    if (!has_more) return items;
    if (data.length === 0) throw new AppError('PROVIDER_UNAVAILABLE', 'The payment provider’s list is incomplete.');
  }
}
