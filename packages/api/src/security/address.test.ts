import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readAddress } from './address.ts';

it.each([
  ['  Person@Company.example ', 'person@company.example'],
  ['ＰＥＲＳＯＮ@company.example', 'person@company.example'],
  ['o’neil@company.example', null],
  ["o'neil+tag@sub.company.example", "o'neil+tag@sub.company.example"],
  ['पर्सन@कंपनी.example', 'पर्सन@कंपनी.example'],
  ['nobody', null],
  ['a@b', null],
  ['a@@company.example', null],
  ['a＠b@company.example', null],
  ['.a@company.example', null],
  ['a..b@company.example', null],
  ['a@-company.example', null],
  ['a b@company.example', null],
  ['a@company.example\r\nBcc: b@company.example', null],
  ['a\u0000@company.example', null],
  ['a\ud800@company.example', null],
  ['"a"@company.example', null],
  [`${'a'.repeat(65)}@company.example`, null],
  [`a@${'b'.repeat(250)}.example`, null],
])('reads %j as %j', (typed, address) => {
  expect(readAddress(typed)).toBe(address);
});

it('gives what it accepts back unchanged, so that one address has one form', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.domain(), (local, domain) => {
      const address = readAddress(`${local}@${domain}`);
      return address === null || (readAddress(address) === address && !/[\s\p{Cc}<>,;]/u.test(address));
    }),
  );
});
