import { expect, it } from 'vitest';

import { createRecentTokens, hashToken } from './token.ts';

it('remembers the tokens that were read last, up to its limit', () => {
  const tokens = createRecentTokens(2);
  for (const token of ['first', 'second', 'first', 'third']) tokens.note(hashToken(token));
  expect(['first', 'second', 'third', 'unread'].map(tokens.has)).toEqual([true, false, true, false]);
});
