import { expect, test } from 'vitest';
import { browserName } from './user-agent.ts';

const mozilla = 'Mozilla/5.0';

test.each([
  [`${mozilla} (X11; Linux x86_64) AppleWebKit/537.36 Chrome/150.0.0.0 Safari/537.36`, 'Chrome on Linux'],
  [`${mozilla} (Windows NT 10.0) AppleWebKit/537.36 Chrome/150.0.0.0 Safari/537.36 Edg/150.0`, 'Edge on Windows'],
  [`${mozilla} (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605 Version/19.0 Safari/604`, 'Safari on iOS'],
  [`${mozilla} (Android 16; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0`, 'Firefox on Android'],
  [`${mozilla} (X11; Linux x86_64) HeadlessChrome/150.0.0.0 Safari/537.36`, 'Chrome on Linux'],
  ['curl/8.9', 'curl/8.9'],
  [null, 'A browser without a name'],
])('%s is %s', (userAgent, words) => {
  expect(browserName(userAgent)).toBe(words);
});
