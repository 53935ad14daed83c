import { expect, test } from '@playwright/test';
import { scriptsOfPages } from '../support/built-scripts.ts';

test('the pages of sign-in and sign-up load at most 8 scripts, of 60,000 bytes compressed', async () => {
  for (const { route, files, gzipBytes } of await scriptsOfPages()) {
    if (route !== '/login' && route !== '/signup') continue;
    expect(files.length, route).toBeLessThanOrEqual(8);
    expect(gzipBytes, route).toBeLessThanOrEqual(60_000);
  }
});

test('no page loads more than 11 scripts', async () => {
  const pages = await scriptsOfPages();

  expect(pages.map(({ route }) => route)).toContain('/(app)/billing');
  expect(pages.filter(({ files }) => files.length > 11)).toEqual([]);
});
