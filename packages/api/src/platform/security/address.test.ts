import fc from 'fast-check';
import { expect, it } from 'vitest';
import { addressSearchTexts, readAddress } from './address.ts';

it.each([
  ['  Person@Company.example ', 'person@company.example'],
  ['ＰＥＲＳＯＮ@company.example', 'person@company.example'],
  ['o’neil@company.example', null],
  ["o'neil+tag@sub.company.example", "o'neil+tag@sub.company.example"],
  ['पर्सन@कंपनी.example', 'पर्सन@xn--i1b1b4ch5i.example'],
  ['person@MÜNCHEN.example', 'person@xn--mnchen-3ya.example'],
  ['person@xn--mnchen-3ya.example', 'person@xn--mnchen-3ya.example'],
  ['person@bücher.xn--mnchen-3ya.example', 'person@xn--bcher-kva.xn--mnchen-3ya.example'],
  ['person@faß.example', 'person@xn--fa-hia.example'],
  ['per\u00adson@company.example', null],
  ['per\u200bson@company.example', null],
  ['person\ufe0f@company.example', null],
  ['person\u034f@company.example', null],
  ['\u3164person@company.example', null],
  ['\uffa0person@company.example', null],
  ['person@com\u00adpany.example', null],
  ['person@com\u200dpany.example', null],
  ['person@company\ufe0f.example', null],
  ['person@xn--zzzzzz99999.example', null],
  ['person@xn--wca.example', null],
  ['person@127.0.0.1', null],
  ['person@1.2', null],
  ['person@company.0x7f', null],
  ['person@com%70any.example', null],
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

it('returns an accepted address unchanged when it is read again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.domain(), (local, domain) => {
      const address = readAddress(`${local}@${domain}`);
      return address === null || (readAddress(address) === address && !/[\s\p{Cc}<>,;]/u.test(address));
    }),
  );
});

it('stores every domain in ASCII, and without a dropped character', () => {
  const label = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(label, fc.nat(8), (typed, place) => {
      const hidden = `${typed.slice(0, place)}\u00ad${typed.slice(place)}`;
      const address = readAddress(`person@${typed}.example`);
      expect(readAddress(`person@${hidden}.example`)).toBeNull();
      expect(address === null || /^person@[a-z0-9.-]+\.example$/.test(address)).toBe(true);
    }),
  );
});

it.each([
  ['münchen.example', ['münchen.example', 'xn--mnchen-3ya.example']],
  ['jo@MÜNCHEN.example', ['jo@MÜNCHEN.example', 'jo@xn--mnchen-3ya.example']],
  ['company.example', ['company.example']],
  ['A Company', ['A Company']],
])('searches for %j as %j', (typed, terms) => {
  expect(addressSearchTexts(typed)).toEqual(terms);
});
