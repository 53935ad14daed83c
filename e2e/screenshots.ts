import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import { inviteOn, linkFor, makeOwner, passPhrase, signIn } from './people.ts';
import { expect, test } from './service.ts';

const folder = fileURLToPath(new URL('./pictures', import.meta.url));
const shapes = [
  { name: 'light-wide', colorScheme: 'light', width: 1280, height: 800 },
  { name: 'dark-wide', colorScheme: 'dark', width: 1280, height: 800 },
  { name: 'light-phone', colorScheme: 'light', width: 390, height: 844 },
] as const;

async function picture(page: Page, name: string, path: string): Promise<void> {
  for (const { name: shape, colorScheme, width, height } of shapes) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height });
    await page.goto(path);
    await page.screenshot({ path: `${folder}/${name}-${shape}.png`, fullPage: true });
  }
}

test('a picture of every page', async ({ browser, request, page, service }) => {
  fs.mkdirSync(folder, { recursive: true });

  await picture(page, 'login', '/login');
  await picture(page, 'signup', '/signup');
  await picture(page, 'verify-refused', '/verify?token=x');
  await picture(page, 'not-found', '/nothing-here');
  await picture(page, 'awaiting-approval-nobody', '/awaiting-approval');

  const email = 'owner@harbour.example';
  await page.goto('/signup');
  await page.getByLabel('Organisation').fill('Harbour Analytics');
  await page.getByLabel('E-mail', { exact: true }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill('short');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(page.getByRole('alert')).toBeVisible();
  await page.screenshot({ path: `${folder}/signup-refused-light-phone.png`, fullPage: true });
  await page.getByLabel('Password', { exact: true }).fill(passPhrase);
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'Check your mail' })).toBeVisible();
  await picture(page, 'signup-sent', page.url());
  await page.goto(await linkFor(service, email));
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.screenshot({ path: `${folder}/verify-light-wide.png`, fullPage: true });
  await signIn(page, email);
  await picture(page, 'awaiting-approval', '/awaiting-approval');

  const desk = await (await browser.newContext({ baseURL: service.baseUrl })).newPage();
  await makeOwner(service, request, { approved: false, organisation: 'Larch & Sons', email: 'owner@larch.example' });
  await makeOwner(service, request, {
    approved: false,
    organisation: 'Northern Light Optics',
    email: 'ida@optics.example',
  });
  await signIn(
    desk,
    await makeOwner(service, request, { operator: true, organisation: 'Front desk', email: 'desk@gatehouse.example' }),
  );
  await picture(desk, 'operator', '/operator');

  await service.operator('approve', email);
  await picture(page, 'onboarding', '/onboarding');
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.waitForURL('/');
  await picture(page, 'home', '/');
  await picture(page, 'billing-free', '/billing');
  await picture(page, 'account', '/account');
  await picture(page, 'members', '/members');
  await picture(page, 'forbidden', '/operator');

  const invitation = await inviteOn(page);
  await page.screenshot({ path: `${folder}/members-invited-light-phone.png`, fullPage: true });
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.screenshot({ path: `${folder}/members-invited-light-wide.png`, fullPage: true });
  await picture(page, 'invitation-refused', '/invitation?token=x');
  const theirs = await (await browser.newContext({ baseURL: service.baseUrl })).newPage();
  await picture(theirs, 'invitation', invitation);
  await theirs.getByRole('button', { name: 'Create an account' }).click();
  await theirs.waitForURL('/signup');
  await picture(theirs, 'signup-invited', '/signup');
  await signIn(
    theirs,
    await makeOwner(service, request, { organisation: 'Quayside Studio', email: 'mia@quayside.example' }),
  );
  await picture(theirs, 'invitation-join', '/invitation');
  await theirs.getByRole('button', { name: /^Join/ }).click();
  await theirs.getByRole('button', { name: 'Go on' }).click();
  await theirs.waitForURL('/');
  for (const { name, colorScheme, width, height } of shapes) {
    await theirs.emulateMedia({ colorScheme });
    await theirs.setViewportSize({ width, height });
    await theirs.goto('/');
    await theirs.getByRole('button', { name: /switch organisation/ }).click();
    await theirs.screenshot({ path: `${folder}/switch-${name}.png` });
  }
  await picture(page, 'members-two', '/members');
  await page.goto('/members');
  await page.getByRole('link', { name: /^Remove/ }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await picture(page, 'members-remove', page.url());
  await picture(theirs, 'members-leave', '/members?leave');
  const { user } = await (await desk.request.get('/api/session')).json();
  await picture(desk, 'operator-person', `/operator/people/${user.id}`);

  await page.goto('/billing');
  await page.getByRole('button', { name: 'Choose Silver' }).click();
  await page.waitForURL(`${service.sandboxUrl}/**`);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.screenshot({ path: `${folder}/sandbox-checkout-light-phone.png`, fullPage: true });
  await page.getByRole('button', { name: /^Pay/ }).click();
  await expect(page.getByText('You are on Silver')).toBeVisible({ timeout: 20_000 });
  await picture(page, 'billing-silver', '/billing');
  await picture(page, 'billing-cancel', '/billing?ask=cancel');

  for (const [name, path] of [
    ['sandbox', '/'],
    ['sandbox-mailbox', '/mailbox'],
  ] as const) {
    await picture(page, name, `${service.sandboxUrl}${path}`);
  }
});
