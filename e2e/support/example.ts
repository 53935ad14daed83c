import { expect, type Page } from '@playwright/test';
import { passPhrase } from './people.ts';
import { test as base, type Service, startService } from './service.ts';

export type Example = { service: Service; notesUrl: string };

/** Starts what `npm run example -- --one-host` starts: the service, its sandbox and the product of examples/notes. */
export async function startExample(): Promise<Example> {
  const service = await startService({ command: 'example', flags: ['--one-host'] });
  const notesUrl = service.baseUrl.replace(/\d+$/, (port) => String(Number(port) + 3));
  await expect.poll(() => service.printed()).toContain(`Notes is up: ${notesUrl}`);
  return { service, notesUrl };
}

/** Opens the product without a session, signs in where it sends the browser, and comes back. */
export async function signInAtNotes(page: Page, { notesUrl }: Example, email: string): Promise<void> {
  await page.goto(notesUrl);
  await expect(page).toHaveURL(/\/login\?return_to=/);
  await page.getByLabel('E-mail', { exact: true }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill(passPhrase);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await expect(page).toHaveURL(`${notesUrl}/`);
}

export async function addNote(page: Page, text: string): Promise<void> {
  await page.getByLabel('New note').fill(text);
  await page.getByRole('button', { name: 'Add note' }).click();
}

/** Playwright's `test` with an example for each test. Relative URLs are those of the service. */
export const test = base.extend<{ example: Example }>({
  example: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the requested fixtures.
    async ({}, use) => {
      const example = await startExample();
      await use(example);
      await example.service.stop();
    },
    { timeout: 300_000 },
  ],
  baseURL: ({ example }, use) => use(example.service.baseUrl),
});
