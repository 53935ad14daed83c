import { expect, it } from 'vitest';
import { isNavigation } from './navigation.ts';

it.each<[boolean, Record<string, string>]>([
  [true, {}],
  [true, { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }],
  [true, { 'sec-fetch-mode': 'navigate' }],
  [true, { 'sec-fetch-dest': 'document', 'sec-fetch-site': 'cross-site' }],
  [false, { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }],
  [false, { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }],
  [true, { 'sec-fetch-mode': 'cors' }],
  [true, { 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'none' }],
  [false, { 'sec-fetch-mode': 'no-cors' }],
  [false, { 'sec-fetch-dest': 'script' }],
  [false, { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }],
  [false, { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'object' }],
  [false, { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'fencedframe' }],
  [false, { 'sec-fetch-mode': 'websocket', 'sec-fetch-dest': 'document' }],
  [false, { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-purpose': 'prefetch;prerender' }],
  [false, { purpose: 'prefetch' }],
  [false, { 'x-moz': 'prefetch' }],
  [false, { 'sec-fetch-mode': '' }],
])('answers %s for %j', (navigation, headers) => {
  expect(isNavigation(new Headers(headers))).toBe(navigation);
});
