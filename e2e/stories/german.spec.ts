import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/browser/accessibility.ts';
import { expectFitsWindow } from '../support/browser/page-width.ts';
import { difficultNames, linkFor, makeOwner, newEmail, passPhrase } from '../support/people.ts';
import { expect, test } from '../support/service.ts';

test.use({ locale: 'de-DE' });

const messages = fileURLToPath(new URL('../../apps/web/src/lib/messages', import.meta.url));
const english = sentencesOf('en').filter((sentence) => !sentencesOf('de').includes(sentence));

test('a German browser gets German pages from sign-up to billing and the operator console, and German mail', async ({
  page,
  request,
  service,
}) => {
  test.setTimeout(240_000);
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
  await expect(page.getByRole('heading', { name: 'Sehen Sie in Ihr Postfach' })).toBeVisible();
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
  await service.approve(email);
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
  await expect(page.getByText('Sie haben jetzt Silver.')).toBeVisible();
  await see(page, '/billing?ask=cancel');
  await page.getByRole('button', { name: 'Silver kündigen' }).click();
  await expect(page.getByText(/Endet am \d+\. \p{L}+ \d{4}, danach Free\./u)).toBeVisible();
  await see(page);
  await see(page, '/');
  await see(page, '/keys');
  await page.getByLabel('Name').fill('Lieferscheine');
  await page.getByRole('button', { name: 'Schlüssel erstellen' }).click();
  await see(page);
  await page.getByRole('link', { name: 'Widerrufen: Lieferscheine' }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await see(page);

  for (const organisation of difficultNames) await makeOwner(service, request, { approved: false, organisation });
  expect((await service.operator('grant', email)).stderr).toBe('');
  await seeConsole(page);
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

async function seeConsole(page: Page): Promise<void> {
  const at = '/operator';
  await see(page, at);
  await page.keyboard.press('Control+K');
  await see(page);
  await page.getByRole('button', { name: 'Tastenkürzel' }).click();
  await see(page);
  await page.goto(at);
  await page.getByRole('link', { name: /^Ablehnen: 🦊/ }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await see(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Ablehnen' }).click();
  await expect(page.getByRole('status').getByText('ist abgelehnt.')).toBeVisible();
  for (const path of ['?search=x-y-z', '/decided', '/people', '/people?search=x-y-z', '/organisations']) {
    await see(page, `${at}${path}`);
  }
  await page.getByRole('link', { name: '🦊' }).click();
  await expect(page.getByRole('heading', { name: '🦊' })).toBeVisible();
  await see(page);
  await page.getByRole('link', { name: 'Abrechnungsverlauf' }).click();
  await see(page);
  await page.goto(`${at}/people?search=owner-`);
  await page.locator('[data-row] a').first().click();
  await see(page);
  await page.getByRole('link', { name: /^Sperren:/ }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await see(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Sperren' }).click();
  await see(page);

  for (const path of ['/keys', '/events', '/events?search=x-y-z', '/events/drift']) await see(page, `${at}${path}`);
  await page.getByRole('button', { name: 'Jetzt alle vergleichen' }).click();
  await expect(page.getByText(/^\d+ Abonnements? verglichen/)).toBeVisible();
  await see(page);
  await page.goto(`${at}/events`);
  await page.getByRole('link', { name: 'Abonnement geändert' }).first().click();
  await expect(page.locator('pre')).toBeVisible();
  await see(page);
  await page.getByRole('main').getByRole('link', { name: 'Lärche & Söhne' }).click();
  await expect(page.getByText('Bezahlvorgang abgeschlossen')).toBeVisible();
  await see(page);
}

/** Expects a page in German without English sentences and without findings of axe. */
async function see(page: Page, address?: string): Promise<void> {
  if (address !== undefined) await page.goto(address);
  await page.waitForLoadState('load');
  await expect(page.locator('html')).toHaveAttribute('lang', 'de');
  const texts = await page.evaluate(() => {
    const named = [...document.querySelectorAll('[aria-label],[title],[placeholder]')].flatMap((element) =>
      ['aria-label', 'title', 'placeholder'].map((name) => element.getAttribute(name) ?? ''),
    );
    const body = document.body.cloneNode(true) as HTMLElement;
    for (const script of body.querySelectorAll('script')) script.remove();
    return [document.title, body.textContent, ...named].join('\n').replace(/\s+/g, ' ');
  });
  expect
    .soft(
      english.filter((sentence) => texts.includes(sentence)),
      page.url(),
    )
    .toEqual([]);
  await expectAccessible(page, `${page.url()} in German`);
  const size = page.viewportSize();
  await page.setViewportSize({ width: 320, height: 640 });
  await expectFitsWindow(page, `${page.url()} in German at 320 px`);
  if (size) await page.setViewportSize(size);
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
