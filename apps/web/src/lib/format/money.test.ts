import { expect, test } from 'vitest';
import { formatMoney } from './money.ts';

test.each([
  [2400, 'gbp', '£24'],
  [2450, 'gbp', '£24.50'],
  [7900, 'usd', '$79'],
  [3000, 'jpy', '¥3,000'],
  [249_000, 'huf', 'Ft 2,490'],
  [249_050, 'huf', 'Ft 2,490.50'],
  [15_000_000, 'idr', 'Rp 150,000'],
  [50_000, 'isk', 'kr 500'],
  [500_000, 'ugx', 'UGX 5,000'],
  [12_340, 'kwd', 'KWD 12.340'],
])('%i of %s is %s', (amount, currency, words) => {
  expect(formatMoney({ amount, currency }).replaceAll('\u00a0', ' ')).toBe(words);
});
