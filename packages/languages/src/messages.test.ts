import { parse } from '@formatjs/icu-messageformat-parser';
import { expect, test } from 'vitest';
import { messagesOf } from './messages.ts';

const catalogue = {
  title: 'Sign in',
  idp: 'Continue with {idp}',
  group: { members: '{count, plural, one {1 member} other {# members}} of {name}' },
  parsed: parse('{who} left'),
};
const t = messagesOf(catalogue, 'en-GB') as {
  title: string;
  idp: (values: object) => unknown;
  group: { members: (values: object) => unknown };
  parsed: (values: object) => unknown;
};

test('a text without placeholders is a string, one with them a function of their values', () => {
  expect(t.title).toBe('Sign in');
  expect(t.idp({ idp: '{Larch} <b>$&' })).toBe('Continue with {Larch} <b>$&');
  expect(t.parsed({ who: 'Mia' })).toBe('Mia left');
});

test('a plural follows the language', () => {
  expect(t.group.members({ count: 1, name: 'Larch' })).toBe('1 member of Larch');
  expect(t.group.members({ count: 1200, name: 'Larch' })).toBe('1,200 members of Larch');
  const french = messagesOf({ left: '{count, plural, one {# clé} other {# clés}}' }, 'fr-FR') as typeof t & {
    left: (values: object) => string;
  };
  expect([0, 1, 2].map((count) => french.left({ count }))).toEqual(['0 clé', '1 clé', '2 clés']);
});

test('a value that is an object is a part of its own', () => {
  const name = { name: 'Larch' };
  const snippet = () => {};
  expect(t.group.members({ count: 2, name })).toEqual(['2 members of ', name]);
  expect(t.parsed({ who: snippet })).toEqual([snippet, ' left']);
  expect((messagesOf({ only: '{name}' }, 'en-GB').only as (values: object) => unknown)({ name })).toEqual([name]);
});

test('a value that is missing is an error', () => {
  expect(() => t.idp({})).toThrow(/"idp" was not provided/);
});
