import { expect, type Page } from '@playwright/test';

/** Ends the session on the server; the browser keeps its cookie. */
export async function endSession(page: Page): Promise<void> {
  const cookies = await page.context().cookies();
  const session = cookies.find(({ name }) => name === 'session');
  expect(session).toBeDefined();
  expect((await page.request.post('/api/logout')).status()).toBe(200);
  if (session) await page.context().addCookies([session]);
}
