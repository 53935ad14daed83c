import { expect, test } from 'vitest';
import { passwordStrength } from './password-strength.ts';
import { strengthTexts } from './strength-texts.ts';

const hints = strengthTexts();

test.each([
  ['', 'At least 8 characters. A few words are easy to remember.'],
  ['1234567', '1 more character.'],
  ['aaaaaaaaaaaa', 'Weak: too few different characters.'],
  ['larch tree', 'Fair. Another word would make it stronger.'],
  ['larch tree hill', 'Good.'],
  ['larch tree on a hill', 'Strong.'],
])('%j: %s', (password, text) => {
  expect(passwordStrength(password, hints).text).toBe(text);
});

test('length counts code points after NFKC, as the service counts', () => {
  expect(passwordStrength('👍👍👍👍', hints).text).toBe('4 more characters.');
});
