import { expect, test } from 'vitest';
import { plain, say } from './notice.ts';

test('names are parts of their own, everything else is text', () => {
  expect(say`${'Mia'} is now ${plain('an admin')}.`).toEqual([{ name: 'Mia' }, ' is now ', 'an admin', '.']);
  expect(say`Saved.`).toEqual(['Saved.']);
});
