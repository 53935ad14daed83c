import { expect, test } from 'vitest';
import type { KnownPrice } from '../prices/price-cache.ts';
import { matchTier } from './match-tier.ts';

const sold = [
  { tier: 'silver', name: 'silver_monthly' },
  { tier: 'silver', name: 'silver_yearly' },
  { tier: 'gold', name: 'price_gold_now' },
];
const known: Pick<KnownPrice, 'priceId' | 'productId' | 'tier'>[] = [
  { priceId: 'price_silver_old', productId: 'prod_silver', tier: 'silver' },
  { priceId: 'price_one', productId: 'prod_both', tier: 'silver' },
  { priceId: 'price_ended', productId: 'prod_ended', tier: 'platinum' },
  { priceId: 'price_two', productId: 'prod_both', tier: 'gold' },
];

type Item = { priceId?: string; lookupKey?: string; priceTier?: string; productId?: string; quantity?: number };

function match(items: Item[], tier: string | null = null) {
  const full = items.map((item) => ({
    id: 'si',
    priceId: null,
    lookupKey: null,
    priceTier: null,
    productId: null,
    quantity: 1,
    ...item,
  }));
  const found = matchTier({ items: full, metadata: { organisation: null, tier } }, known, sold);
  return [found.tier, found.source];
}

test.each<[string, Item[], string | null, unknown]>([
  ['the lookup key of another interval', [{ lookupKey: 'silver_yearly' }], null, ['silver', 'lookup_key']],
  ['a price seen before, which lost its lookup key', [{ priceId: 'price_silver_old' }], 'gold', ['silver', 'price']],
  ['a configured price id', [{ priceId: 'price_gold_now' }], null, ['gold', 'price']],
  ['a lookup key', [{ priceId: 'price_new', lookupKey: 'silver_monthly' }], 'gold', ['silver', 'lookup_key']],
  ['a price before a lookup key', [{ priceId: 'price_two', lookupKey: 'silver_monthly' }], null, ['gold', 'price']],
  ['a negotiated price', [{ priceId: 'price_new', priceTier: 'gold' }], null, ['gold', 'price_metadata']],
  [
    'a negotiated price before a lookup key and a product',
    [{ priceId: 'price_new', priceTier: 'gold', lookupKey: 'silver_monthly', productId: 'prod_silver' }],
    'silver',
    ['gold', 'price_metadata'],
  ],
  [
    'a price seen before, whatever its metadata name',
    [{ priceId: 'price_one', priceTier: 'gold' }],
    null,
    ['silver', 'price'],
  ],
  ['metadata of a price that name no tier', [{ priceId: 'price_new', priceTier: 'x' }], null, [null, null]],
  ['a product of one tier', [{ priceId: 'price_new', productId: 'prod_silver' }], 'gold', ['silver', 'product']],
  ['a product of two tiers does not match', [{ priceId: 'price_new', productId: 'prod_both' }], null, [null, null]],
  ['metadata, last', [{ priceId: 'price_new', productId: 'prod_both' }], 'gold', ['gold', 'metadata']],
  ['a price of a tier that the plans no longer hold', [{ priceId: 'price_ended' }], null, [null, null]],
  ['metadata of no tier', [], 'platinum', [null, null]],
  [
    'the best of several items',
    [{ priceId: 'price_silver_old' }, { priceId: 'price_two' }],
    'silver',
    ['gold', 'price'],
  ],
  [
    'the best of several items, whatever each is known by',
    [{ priceId: 'price_silver_old' }, { priceId: 'price_new', lookupKey: 'price_gold_now' }],
    'silver',
    ['gold', 'lookup_key'],
  ],
  [
    'an item that is paid before one with quantity 0',
    [{ priceId: 'price_two', quantity: 0 }, { priceId: 'price_silver_old' }],
    null,
    ['silver', 'price'],
  ],
  ['a single item, whatever its quantity', [{ priceId: 'price_two', quantity: 0 }], null, ['gold', 'price']],
  ['any item that matches', [{ priceId: 'price_extra' }, { priceId: 'price_two' }], null, ['gold', 'price']],
])('%s', (_, items, metadata, expected) => {
  expect(match(items, metadata)).toEqual(expected);
});
