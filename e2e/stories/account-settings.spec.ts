import { expectFitsWindow } from '../support/browser/page-width.ts';
import { scriptsRun } from '../support/browser/scripts-run.ts';
import { makeOwner, passPhrase, signIn } from '../support/people.ts';
import { expect, type Service, test } from '../support/service.ts';
import { openSetting } from '../support/settings.ts';

const tabs = { Profile: '/account', Security: '/account/security', Data: '/account/data' };
const longName = `${'x'.repeat(80)}${'ש'.repeat(10)}🎈🌲`;

for (const javaScriptEnabled of [true, false]) {
  test.describe(`${javaScriptEnabled ? 'with' : 'without'} JavaScript`, () => {
    test.use({ javaScriptEnabled });

    test('a setting is changed in its row, and a mistake keeps the row open', async ({ page, request, service }) => {
      await signIn(page, await makeOwner(service, request));
      await page.goto('/account');
      await expect(page.getByLabel('Your name')).toBeHidden();
      await openSetting(page, 'Name');
      await page.getByLabel('Your name').fill('Ada Larch');
      await page.getByRole('button', { name: 'Save' }).click();
      await expect(page.getByRole('status').first()).toContainText('Your name is saved.');
      await expect(page.locator('summary', { hasText: 'Ada Larch' })).toContainText('Saved');
      await expect(page.locator('#notice')).toHaveCount(0);
      await expect(page.getByLabel('Your name')).toBeHidden();

      await openSetting(page, 'E-mail');
      await page.getByLabel('New address').fill('no address');
      await page.getByRole('button', { name: 'Send the link' }).click();
      await expect(page.getByRole('alert').getByRole('link').first()).toHaveAttribute('href', '#email');
      await expect(page.getByLabel('New address')).toBeVisible();
      await expect(page.getByLabel('New address')).toHaveValue('no address');
    });

    test('the password is changed under Security, where a mistake keeps its form', async ({
      page,
      request,
      service,
    }) => {
      await signIn(page, await makeOwner(service, request));
      await page.goto('/account/security');
      await openSetting(page, 'Password');
      await page.getByLabel('Current password').fill('not the pass phrase');
      await page.getByLabel('New password').fill('quite another pass phrase');
      await page.getByRole('button', { name: 'Change the password' }).click();
      await expect(page.getByRole('alert').getByRole('link')).toHaveAttribute('href', '#current_password');
      await page.getByLabel('Current password').fill(passPhrase);
      await page.getByLabel('New password').fill('quite another pass phrase');
      await page.getByRole('button', { name: 'Change the password' }).click();
      await expect(page.getByText('Your password is set.')).toBeVisible();
      await expect(page).toHaveURL('/account/security');
    });

    test('each tab has its own address and is marked as the current one', async ({ page, request, service }) => {
      await signIn(page, await makeOwner(service, request));
      await page.goto('/account');
      const nav = page.getByRole('navigation', { name: 'Account' });
      for (const [name, path] of Object.entries(tabs)) {
        await nav.getByRole('link', { name }).click();
        await expect(page).toHaveURL(path);
        await expect(nav.locator('[aria-current=page]')).toHaveText(name);
        await page.reload();
        await expect(nav.locator('[aria-current=page]')).toHaveText(name);
      }
    });

    test('three sessions are shown, this one first, and all of them on request', async ({ page, request, service }) => {
      const email = await makeOwner(service, request);
      for (let others = 0; others < 4; others++) await signInElsewhere(service, email);
      await signIn(page, email);
      await signInElsewhere(service, email);
      await page.goto('/account/security');
      const card = page.getByRole('region', { name: 'Where you are signed in' });
      const sessions = card.getByRole('listitem').filter({ hasText: 'Signed in', visible: true });
      await expect(sessions).toHaveCount(3);
      await expect(sessions.first()).toContainText('This browser');

      await page.getByText('Show all 6').click();
      await expect(sessions).toHaveCount(6);
      // On a phone the buttons are below the text, which they would leave a column of a syllable.
      await page.setViewportSize({ width: 360, height: 640 });
      expect((await sessions.last().locator('p').last().boundingBox())?.width).toBeGreaterThan(240);
      await sessions
        .last()
        .getByRole('button', { name: /^Sign out/ })
        .click();
      await expect(page.getByText('That session has ended.')).toBeVisible();
      await page.getByText('Show all 5').click();
      await page.getByRole('button', { name: 'Sign out everywhere else' }).click();
      await expect(page.getByText('You are signed out everywhere else.')).toBeVisible();
      await expect(sessions).toHaveCount(1);
    });
  });
}

test('a row opens by keyboard, with the focus in its form, and closes again', async ({ page, request, service }) => {
  await signIn(page, await makeOwner(service, request));
  await page.goto('/account');
  await page.locator('summary', { hasText: 'Name' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByLabel('Your name')).toBeFocused();
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Space');
  await expect(page.getByLabel('Your name')).toBeHidden();

  await page.goto('/account?change=name');
  await expect(page.getByLabel('Your name')).toBeVisible();
});

test('a wrong current password keeps the new one as it was typed', async ({ page, request, service }) => {
  await signIn(page, await makeOwner(service, request));
  await page.goto('/account/security');
  await scriptsRun(page);
  await openSetting(page, 'Password');
  await page.getByLabel('Current password').fill('not the pass phrase');
  await page.getByLabel('New password').fill('another long pass phrase');
  await page.getByRole('button', { name: 'Change the password' }).click();
  await expect(page.getByText('This password is wrong.').first()).toBeVisible();
  await expect(page.getByLabel('New password')).toHaveValue('another long pass phrase');
  await page.getByLabel('Current password').fill(passPhrase);
  await page.getByRole('button', { name: 'Change the password' }).click();
  await expect(page.getByText('Your password is set.')).toBeVisible();
});

test('names of 100 characters, right to left and with emoji, make no page wider than 320 px', async ({
  page,
  request,
  service,
}) => {
  await signIn(page, await makeOwner(service, request, { organisation: longName }));
  await page.goto('/account?change=name');
  await page.getByLabel('Your name').fill(longName);
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Your name is saved.')).toBeVisible();
  await page.setViewportSize({ width: 320, height: 700 });
  for (const path of [
    '/',
    '/billing',
    '/account?change=name',
    '/account/security',
    '/account/data',
    '/account/delete',
  ]) {
    await page.goto(path);
    await expectFitsWindow(page, path);
  }
});

async function signInElsewhere(service: Service, email: string): Promise<void> {
  const { status } = await fetch(`${service.baseUrl}/api/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: passPhrase }),
  });
  expect(status).toBe(200);
}
