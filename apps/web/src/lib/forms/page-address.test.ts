import { expect, test } from 'vitest';
import { pageAddress } from './page-address.ts';

test.each([
  ['/signup?forgot', '/signup?forgot'],
  ['/logout?return_to=https%3A%2F%2Fproduct.example', '/logout?return_to=https%3A%2F%2Fproduct.example'],
  ['/signup?/create', '/signup'],
  ['/invitation?token=secret', '/invitation'],
])('a form of %s leads back to %s', (path, expected) => {
  expect(pageAddress(new URL(path, 'https://id.company.example'))).toBe(expected);
});
