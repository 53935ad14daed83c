import { expect, it } from 'vitest';
import { returnTo } from './return-to.ts';

const wanted = 'https://app.company.example/orders?page=2&name=a%26b';

it.each([
  ['/login', null],
  ['/login?return_to=', ''],
  ['/login?return_to=%2Forders', '/orders'],
  [`/login?return_to=${encodeURIComponent(wanted)}`, wanted],
  [`/login?return_to=${encodeURIComponent(wanted)}&lang=en`, wanted],
  // As nginx, Caddy and others write it.
  [`/login?return_to=${wanted}`, wanted],
  [`/login?lang=en&return_to=${wanted}`, wanted],
  ['/login?return_to=HTTP://localhost:4000/x?y=1&z=2', 'HTTP://localhost:4000/x?y=1&z=2'],
  ['/login?other=return_to=https://app.company.example', null],
])('%s asks for %s', (path, url) => {
  expect(returnTo(new URL(path, 'https://id.company.example'))).toBe(url);
});
