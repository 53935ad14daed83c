import { expect, it } from 'vitest';
import { isNavigation, isSameOrigin } from './request-guard.ts';

const base = 'https://id.company.example';
const request = { method: 'POST', pathname: '/api/login', origin: null, fetchSite: null, publicBaseUrl: base };

it.each([
  ['a script that sends neither header', {}, true],
  ['our own page', { origin: base, fetchSite: 'same-origin' }, true],
  ['our own page in an old browser', { origin: base }, true],
  ['an address typed by hand', { fetchSite: 'none' }, true],
  ['another site', { origin: 'https://evil.example', fetchSite: 'cross-site' }, false],
  ['another site in an old browser', { origin: 'https://evil.example' }, false],
  ['a sibling host', { origin: 'https://app.company.example', fetchSite: 'same-site' }, false],
  ['our origin from another site', { origin: base, fetchSite: 'cross-site' }, false],
  ['the same host over http', { origin: 'http://id.company.example' }, false],
  ['another port', { origin: `${base}:8443` }, false],
  ['a name that begins like ours', { origin: `${base}.evil.example` }, false],
  ['an opaque origin', { origin: 'null' }, false],
  ['an opaque origin of our own no-referrer page', { origin: 'null', fetchSite: 'same-origin' }, true],
  ['an empty origin', { origin: '' }, false],
  ['another site that only reads', { method: 'GET', origin: 'https://evil.example', fetchSite: 'cross-site' }, true],
  ['another site that only looks', { method: 'HEAD', origin: 'https://evil.example' }, true],
  ['a preflight', { method: 'OPTIONS', origin: 'https://evil.example' }, true],
  ['another method', { method: 'DELETE', origin: 'https://evil.example' }, false],
  ['the payment provider', { pathname: '/webhooks/payment', origin: 'https://evil.example' }, true],
  ['a path that only begins like the webhook', { pathname: '/webhooksx', origin: 'https://evil.example' }, false],
  ['our page where no base URL is configured', { origin: base, publicBaseUrl: null }, false],
  ['a script where no base URL is configured', { publicBaseUrl: null }, true],
])('%s', (_, change, passes) => {
  expect(isSameOrigin({ ...request, ...change })).toBe(passes);
});

it.each([
  ['http://localhost:3000', true],
  ['http://127.0.0.1:3000', true],
  ['http://127.0.0.2:3000', false],
  ['http://[::1]:3000', false],
  ['http://localhost:3001', false],
  ['https://localhost:3000', false],
  ['http://company.example:3000', false],
  ['http://localhost:3000.evil.example', false],
])('on loopback, %s', (origin, passes) => {
  expect(isSameOrigin({ ...request, origin, publicBaseUrl: 'http://localhost:3000' })).toBe(passes);
});

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
])('whether a request is a navigation: %s for %j', (navigation, headers) => {
  expect(isNavigation(new Headers(headers))).toBe(navigation);
});
