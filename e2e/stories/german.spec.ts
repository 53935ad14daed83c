import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { linkFor, newEmail, passPhrase } from '../support/people.ts';
import { expect, test } from '../support/service.ts';

test.use({ locale: 'de-DE' });

const messages = fileURLToPath(new URL('../../apps/web/src/lib/messages', import.meta.url));
const english = sentencesOf('en').filter((sentence) => !sentencesOf('de').includes(sentence));

test('a German browser gets German pages from sign-up to billing, and German mail', async ({ page, service }) => {
  test.setTimeout(180_000);
  const email = newEmail('inhaberin');

  await see(page, '/login');
  await see(page, '/nichts-da');
  await see(page, '/awaiting-approval');
  await see(page, '/signup');
  await page.getByLabel('Organisation').fill('Lärche & Söhne');
  await page.getByLabel('E-Mail', { exact: true }).fill(email);
  await page.getByLabel('Passwort', { exact: true }).fill('kurz');
  await page.getByRole('button', { name: 'Organisation anlegen' }).click();
  await expect(page.getByRole('alert')).toContainText('Verwenden Sie mindestens 8 Zeichen.');
  await page.getByLabel('Passwort', { exact: true }).fill(passPhrase);
  await page.getByRole('button', { name: 'Organisation anlegen' }).click();
  await expect(page.getByRole('heading', { name: 'Sehen Sie in Ihre E-Mails' })).toBeVisible();
  await see(page);

  const link = await linkFor(service, email);
  const mails = await fetch(`${service.sandboxUrl}/mailbox/messages?to=${encodeURIComponent(email)}`);
  expect(((await mails.json()) as { subject: string }[])[0]?.subject).toMatch(/^Bestätigen Sie Ihre E-Mail-Adresse/);
  await see(page, link);
  await see(page, link);

  await page.goto('/login');
  await page.getByLabel('E-Mail', { exact: true }).fill(email);
  await page.getByLabel('Passwort', { exact: true }).fill('das falsche Passwort');
  await page.getByRole('button', { name: 'Anmelden', exact: true }).click();
  await expect(page.getByRole('alert')).toContainText('E-Mail oder Passwort ist falsch.');
  await see(page);
  await page.getByLabel('Passwort', { exact: true }).fill(passPhrase);
  await page.getByRole('button', { name: 'Anmelden', exact: true }).click();
  await expect(page).toHaveURL('/awaiting-approval');
  await see(page);
  await see(page, '/awaiting-approval/account');
  expect((await service.operator('approve', email)).stderr).toBe('');
  await see(page, '/onboarding');
  await page.getByRole('button', { name: 'Weiter', exact: true }).click();
  await expect(page).toHaveURL('/');

  for (const address of ['/', '/members', '/members?invite', '/organisation', '/organisation?ask=delete']) {
    await see(page, address);
  }
  for (const address of ['/account', '/account/security', '/account/data', '/account/delete']) await see(page, address);
  await see(page, '/billing');
  await expect(page.getByText('24 £')).toBeVisible();
  await page.getByRole('button', { name: 'Silver wählen' }).click();
  await page.waitForURL(`${service.sandboxUrl}/pay/checkout/**`);
  await page.getByLabel(/4242/).first().check();
  await page.getByRole('button', { name: /^Pay/ }).click();
  await expect(page.getByText('Sie haben jetzt Silver.')).toBeVisible({ timeout: 20_000 });
  await see(page, '/billing?ask=cancel');
  await page.getByRole('button', { name: 'Silver kündigen' }).click();
  await expect(page.getByText(/Endet am \d+\. \p{L}+ \d{4}, danach Free\./u)).toBeVisible();
  await see(page);
  await see(page, '/');
});

test('the footer changes the language of all pages, without JavaScript', async ({ browser, service }) => {
  const context = await browser.newContext({ baseURL: service.baseUrl, locale: 'de-DE', javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto('/login');
  await expect(page.locator('html')).toHaveAttribute('lang', 'de');
  await page.getByRole('button', { name: 'English' }).click();
  await expect(page).toHaveURL('/login');
  await expect(page.locator('html')).toHaveAttribute('lang', 'en');
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
  await page.goto('/signup');
  await expect(page.getByRole('button', { name: 'Create organisation' })).toBeVisible();
  await context.close();
});

test('without Accept-Language a page is English, and the API is English in every language', async ({
  request,
  service,
}) => {
  expect(await (await fetch(`${service.baseUrl}/login`, { headers: { accept: 'text/html' } })).text()).toContain(
    '<html lang="en"',
  );
  const answer = await request.post('/api/login', {
    data: { email: newEmail(), password: 'wrong' },
    headers: { 'accept-language': 'de' },
  });
  expect(await answer.json()).toMatchObject({ error: 'E-mail or password is wrong.' });
});

/** Expects a page in German without English sentences and without findings of axe. */
async function see(page: Page, address?: string): Promise<void> {
  if (address !== undefined) await page.goto(address);
  await page.waitForLoadState('load');
  await expect(page.locator('html')).toHaveAttribute('lang', 'de');
  const texts = await page.evaluate(() => {
    const named = [...document.querySelectorAll('[aria-label],[title],[placeholder]')].flatMap((element) =>
      ['aria-label', 'title', 'placeholder'].map((name) => element.getAttribute(name) ?? ''),
    );
    return [document.title, document.body.textContent, ...named].join('\n').replace(/\s+/g, ' ');
  });
  expect
    .soft(
      english.filter((sentence) => texts.includes(sentence)),
      page.url(),
    )
    .toEqual([]);
  await expectAccessible(page, `${page.url()} in German`);
}

/** The texts of two words and more in the message files, that are written in one line without a value. */
function sentencesOf(language: 'en' | 'de'): string[] {
  const files = fs.readdirSync(messages, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  return files.flatMap((file) => {
    const source = fs.readFileSync(path.join(messages, file), 'utf8');
    return source
      .split(/^ {2}(?=(?:en|de): \{)/m)
      .filter((part) => part.startsWith(`${language}: {`))
      .flatMap((part) => [...part.matchAll(/'([^'\n]+ [^'\n]+)'/g)].map(([, text = '']) => text.trim()))
      .filter((text) => text.includes(' ') && !text.includes('{'));
  });
}
