import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cleanName, oneLine } from './text.ts';

const name = oneLine(100);

it.each([
  ['  Larch & Sons  ', 'Larch & Sons'],
  ['می‌خواهم', 'می‌خواهم'],
  ['क्‍ष', 'क्‍ष'],
  ['a\u200db', 'a\u200db'],
  [`a${'\u0301'.repeat(90)}\u200db`, `a${'\u0301'.repeat(90)}\u200db`],
  [`${'\u0301'.repeat(90)}\u200db`, null],
  ['👩‍🚀', null],
  ['\u200da', null],
  ['a\u200c', null],
  ['a\u200c b', null],
  ['a\u200d\u200db', null],
  ['Acme\u200b', null],
  ['Ac\u00adme', null],
  ['Acme\u3164', null],
  ['Acme\ufe0f', null],
  ['Acme\u{e0041}', null],
  ['Acme\u202e', null],
  ['Acme\nLtd', null],
  ['Acme\u2028Ltd', null],
])('accepts the typed name %j as %j', (typed, accepted) => {
  expect(name.safeParse(typed).data ?? null).toBe(accepted);
});

it('looks for nothing else in a name that is too long', () => {
  expect(name.safeParse(`x${'\u0301'.repeat(60_000)}\u200b\n`).error?.issues).toHaveLength(1);
});

it.each([
  ['  A Person ', 'A Person'],
  ['A\tPerson\r\nHere', 'A Person Here'],
  ['A\u0000 Per\u0007son\u202e', 'A Person'],
  ['A\ud800 Person', 'A Person'],
  ['👩‍🚀 Person', '👩🚀 Person'],
  ['می‌خواهم', 'می‌خواهم'],
  ['\u200b\u3164', null],
  ['\u3164\u200d\u3164', null],
  [`${'a'.repeat(99)}\u200db`, 'a'.repeat(99)],
  [`${'👩'.repeat(150)}`, '👩'.repeat(100)],
])('cleans the name %j of another system to %j', (given, cleaned) => {
  expect(cleanName(given, 100)).toBe(cleaned);
});

it('cleans every string to an allowed name, or to null', () => {
  // fast-check builds its table for the unit "binary" in more than a second.
  const codePoint = fc.integer({ min: 0, max: 0x10ffff }).map((point) => String.fromCodePoint(point));
  const character = fc.oneof(codePoint, fc.constantFrom('\u200c', '\u200d', 'a', 'ب', '\u094d', '\u3164', ' '));
  fc.assert(
    fc.property(fc.array(character, { maxLength: 150 }), (characters) => {
      const cleaned = cleanName(characters.join(''), 100);
      expect(cleaned === null || name.parse(cleaned) === cleaned).toBe(true);
    }),
  );
});
