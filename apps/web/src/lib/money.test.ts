import { expect, test } from 'vitest';
import { amountInWords } from './money.ts';

test.each([
  [2400, 'gbp', '£24'],
  [2450, 'gbp', '£24.50'],
  [7900, 'usd', '$79'],
  [3000, 'jpy', '¥3,000'],
])('%i of %s is %s', (amount, currency, words) => {
  expect(amountInWords({ amount, currency })).toBe(words);
});
