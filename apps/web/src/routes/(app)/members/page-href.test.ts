import { expect, test } from 'vitest';
import { pageHref } from './page-href.ts';

test.each([
  [{ search: '', after: null }, {}, '/members'],
  [{ search: 'a & b', after: null }, {}, '/members?q=a+%26+b'],
  [{ search: 'mia', after: 'x_1' }, { remove: '7' }, '/members?q=mia&after=x_1&remove=7'],
])('the address of %o with %o is %j', (position, more, href) => {
  expect(pageHref(position, more)).toBe(href);
});
