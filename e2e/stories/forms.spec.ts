import type { Page } from '@playwright/test';
import { scriptsRun } from '../support/browser/scripts-run.ts';
import { endSession } from '../support/end-session.ts';
import { makeOwner, newEmail, passPhrase, signIn } from '../support/people.ts';
import { expect, test } from '../support/service.ts';
import { openSetting } from '../support/settings.ts';

const password = (page: Page) => page.getByLabel('Password', { exact: true });
const email = (page: Page) => page.getByLabel('E-mail', { exact: true });

test('Tab moves from the address to the password, and then to Show', async ({ page }) => {
  await page.goto('/login');
  await expect(page.getByRole('button', { name: 'Show password' })).toBeVisible();
  await email(page).fill('mia@quayside.example');
  await page.keyboard.press('Tab');
  await page.keyboard.type(passPhrase);
  await expect(password(page)).toHaveValue(passPhrase);
  await page.keyboard.press('Tab');
  await expect(page.getByRole('button', { name: 'Show password' })).toBeFocused();
});

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? 'with JavaScript' : 'without JavaScript', () => {
    test.use({ javaScriptEnabled });

    test('a wrong sign-in marks both fields and opens the resend help, for known and unknown addresses', async ({
      page,
      service,
    }) => {
      for (const address of [await makeOwner(service, page.request), newEmail('unknown')]) {
        await page.goto('/login');
        await email(page).fill(address);
        await password(page).fill('not the pass phrase');
        await page.getByRole('button', { name: 'Sign in' }).click();
        await expect(page.getByRole('alert')).toContainText('E-mail or password is wrong.');
        await expect(email(page)).toHaveAttribute('aria-invalid', 'true');
        await expect(password(page)).toHaveAttribute('aria-invalid', 'true');
        await expect(page.getByRole('button', { name: 'Send the link' })).toBeVisible();
      }
    });

    test('an ended session redirects to sign-in, with a notice once, and back to the page', async ({
      page,
      service,
    }) => {
      const owner = await makeOwner(service, page.request);
      await signIn(page, owner);
      await page.goto('/');
      await endSession(page);
      await page.getByRole('link', { name: 'Members' }).first().click();
      await expect(page).toHaveURL('/login');
      await expect(page.locator('main')).toContainText('You have been signed out.');
      await page.reload();
      await expect(page.locator('main')).not.toContainText('You have been signed out.');

      await email(page).fill(owner);
      await password(page).fill(passPhrase);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await expect(page).toHaveURL('/members');
      await page.goto('/');
      await expect(page).toHaveURL('/');
      if (javaScriptEnabled) return;

      // A sign-out in another tab takes the cookie too.
      for (const end of [() => endSession(page), () => page.context().clearCookies({ name: 'session' })]) {
        await page.goto('/account');
        await openSetting(page, 'Name');
        await end();
        await page.getByLabel('Your name').press('Enter');
        await expect(page).toHaveURL('/login');
        await expect(page.locator('main')).toContainText('You have been signed out.');
        await email(page).fill(owner);
        await password(page).fill(passPhrase);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await expect(page).toHaveURL('/account');
      }
    });
  });
}

test('an error disappears when its field changes, and a field with an error shows no password strength', async ({
  page,
}) => {
  await page.goto('/signup');
  await email(page).fill(newEmail());
  await password(page).fill('gatehouse1234');
  await page.getByRole('button', { name: /^Create/ }).click();
  await expect(page.locator('#password-error')).toBeVisible();
  await expect(page.locator('#password-hint')).toBeHidden();

  await page.locator('[aria-live="polite"]').evaluate((element) => {
    new MutationObserver(() => {
      document.documentElement.dataset.spoken = `${document.documentElement.dataset.spoken ?? ''}${element.textContent};`;
    }).observe(element, { childList: true, characterData: true, subtree: true });
  });
  // At once, so that a slow machine does not pause between two characters.
  await password(page).evaluate((field: HTMLInputElement) => {
    for (const character of ' and more') {
      field.value += character;
      field.dispatchEvent(new InputEvent('input', { bubbles: true }));
    }
  });
  await expect(page.locator('#password-error')).toHaveCount(0);
  await expect(password(page)).not.toHaveAttribute('aria-invalid', 'true');
  await expect(page.locator('#password-hint')).toContainText('Strong');
  await expect(page.locator('html')).toHaveAttribute('data-spoken', /^[^;]*Strong[^;]*;$/);
});

test('after sign-out the back button shows sign-in, and nothing of the page before', async ({ page, service }) => {
  const owner = await makeOwner(service, page.request, { organisation: 'Weir & Daughters' });
  await signIn(page, owner);
  await page.goto('/members');
  await page.goto('/billing');
  await page.getByLabel(/your account/i).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await expect(page).toHaveURL('/login');
  for (let count = 0; count < 2; count++) {
    await page.goBack();
    await expect(page).toHaveURL('/login');
    await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
    await expect(page.getByText('Weir & Daughters')).toHaveCount(0);
  }
});

for (const [address, field, button] of [
  ['/account?change=name', 'Your name', 'Save'],
  ['/members?invite', 'For whom', 'Create invitation link'],
] as const) {
  for (const cookie of ['ended', 'gone'] as const) {
    test(`a form opened by ${address} keeps its text when its session has ended, with the cookie ${cookie}`, async ({
      page,
      service,
    }) => {
      await signIn(page, await makeOwner(service, page.request));
      await page.goto(address);
      await scriptsRun(page);
      await page.getByLabel(field).fill('Mia Larch');
      if (cookie === 'ended') await endSession(page);
      else await page.context().clearCookies({ name: 'session' });
      await page.getByRole('button', { name: button, exact: true }).click();

      const alert = page.getByRole('alert');
      await expect(alert).toContainText('You have been signed out. Sign in in a new tab');
      await expect(alert.getByRole('link', { name: 'Sign in in a new tab' })).toBeVisible();
      await expect(page.getByLabel(field)).toHaveValue('Mia Larch');
      await expect(page).toHaveURL(address);
    });
  }
}

test('a question opened by a query stays when its session has ended', async ({ page, service }) => {
  await signIn(page, await makeOwner(service, page.request));
  const address = '/organisation?ask=delete';
  await page.goto(address);
  await scriptsRun(page);
  await page.getByLabel('Your password').fill(passPhrase);
  await page.context().clearCookies({ name: 'session' });
  await page.getByRole('dialog').getByRole('button', { name: 'Delete the organisation' }).click();
  await expect(page.getByRole('dialog').getByRole('alert')).toContainText('You have been signed out.');
  await expect(page).toHaveURL(address);
});

test('without a connection a link keeps the page and says so', async ({ page, service }) => {
  await signIn(page, await makeOwner(service, page.request));
  const said = page.locator('#notice').filter({ hasText: 'You’re offline. Try again when you’re connected.' });
  await page.goto('/members');
  await scriptsRun(page);
  await page.context().setOffline(true);
  await page.getByRole('link', { name: 'Billing' }).first().click();
  await expect(said).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Members', level: 1 })).toBeVisible();
  await page.context().setOffline(false);
  await page.getByRole('link', { name: 'Billing' }).first().click();
  await expect(page).toHaveURL('/billing');
  await expect(said).toHaveCount(0);

  await page.context().clearCookies();
  await page.goto('/login', { waitUntil: 'networkidle' });
  await page.context().setOffline(true);
  await page.getByRole('link', { name: 'Create an organisation' }).click();
  await expect(said).toBeVisible();
  await expect(page).toHaveURL('/login');
});

test('a notice about a form takes the place of its earlier error, and what was typed stays', async ({
  page,
  service,
}) => {
  await signIn(page, await makeOwner(service, page.request));
  await page.goto('/keys');
  await scriptsRun(page);
  await page.getByLabel('Expires after').fill('7');
  const create = page.getByRole('button', { name: 'Create key' });
  await create.click();
  await expect(page.getByRole('alert')).toContainText('Enter a name.');
  await page.context().setOffline(true);
  await create.click();
  await expect(page.locator('#notice')).toContainText('You are offline. What you typed is still here.');
  await expect(page.getByRole('alert')).toHaveCount(0);
  await expect(page.getByText('Enter a name.')).toHaveCount(0);
  await expect(page.getByLabel('Expires after')).toHaveValue('7');
  await page.context().setOffline(false);
  await create.click();
  await expect(page.getByRole('alert')).toContainText('Enter a name.');
});

test('a form keeps its text when the session ends, and can be sent after sign-in in a new tab', async ({
  page,
  context,
  service,
}) => {
  const owner = await makeOwner(service, page.request);
  await signIn(page, owner);
  await page.goto('/account');
  await scriptsRun(page);
  await openSetting(page, 'Name');
  const field = page.getByLabel('Your name');
  await field.fill('Mia Larch');
  await endSession(page);
  await field.press('Enter');
  await expect(page.getByRole('alert')).toContainText('You have been signed out. Sign in in a new tab');
  await expect(field).toHaveValue('Mia Larch');

  const opened = context.waitForEvent('page');
  await page.getByRole('link', { name: 'Sign in in a new tab' }).click();
  const tab = await opened;
  await email(tab).fill(owner);
  await password(tab).fill(passPhrase);
  await tab.getByRole('button', { name: 'Sign in' }).click();
  await expect(tab).not.toHaveURL(/login/);
  await field.press('Enter');
  await expect(page.getByRole('alert')).toHaveCount(0);
  const session = await (await page.request.get('/api/session')).json();
  await expect.poll(async () => (await (await page.request.get('/api/session')).json()).user.name).toBe('Mia Larch');
  expect(session.user.email).toBe(owner);
});

test('the skip link moves the focus to the content', async ({ page, service }) => {
  await signIn(page, await makeOwner(service, page.request));
  await page.goto('/billing');
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Skip to content' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.locator('main')).toBeFocused();
});

test('an unknown page shows a signed-in user the navigation', async ({ page, service }) => {
  await signIn(page, await makeOwner(service, page.request));
  await page.goto('/no-such-page');
  await expect(page.getByRole('heading', { name: 'Page not found' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Billing' }).first()).toBeVisible();
});

test('forced colours keep the current page, the current plan, its badge, the pressed theme and the meters visible', async ({
  page,
  service,
}) => {
  await signIn(page, await makeOwner(service, page.request));
  await page.goto('/');
  await page.emulateMedia({ forcedColors: 'active' });
  await page.goto('/billing');
  const outline = (selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((element) => getComputedStyle(element).outlineStyle);
  expect(await outline('nav [aria-current="page"]')).toBe('solid');
  expect(await outline('li[aria-current="true"]')).toBe('solid');
  expect(await outline('progress')).toBe('solid');
  const badge = page.getByText('Your plan', { exact: true });
  expect(await badge.evaluate((element) => getComputedStyle(element).borderTopColor)).not.toBe('rgba(0, 0, 0, 0)');
  await page.getByLabel(/your account/i).click();
  expect(await outline('[aria-pressed="true"]')).toBe('solid');
});

test('print shows the content alone, dark on light, and a scroll bar does not shift the page', async ({
  page,
  service,
}) => {
  await signIn(page, await makeOwner(service, page.request));
  await page.goto('/billing');
  await expect(page.locator('html')).toHaveCSS('overflow-y', 'scroll');
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await expect(page.getByRole('heading', { name: 'Billing' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Members' })).toBeHidden();
  await expect(page.getByRole('button', { name: 'Choose Silver' })).toBeHidden();
  await expect(page.getByRole('contentinfo')).toBeHidden();
  await page.goto('/members');
  await expect(page.getByRole('cell', { name: 'Owner' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Invite someone' })).toBeHidden();
  await expect(page.getByRole('combobox')).toHaveCount(0);
  const lightness = await page.locator('body').evaluate((body) => {
    const context = document.createElement('canvas').getContext('2d');
    if (context === null) throw new Error('There is no canvas.');
    return [getComputedStyle(body).backgroundColor, getComputedStyle(body).color].map((colour) => {
      context.fillStyle = colour;
      context.fillRect(0, 0, 1, 1);
      return context.getImageData(0, 0, 1, 1).data[1] ?? 0;
    });
  });
  expect(lightness[0]).toBeGreaterThan(200);
  expect(lightness[1]).toBeLessThan(60);
});

test('times are written in the user’s time zone once the page has loaded', async ({ browser, service }) => {
  const context = await browser.newContext({ baseURL: service.baseUrl, timezoneId: 'Pacific/Auckland' });
  const page = await context.newPage();
  await signIn(page, await makeOwner(service, context.request, { approved: false }));
  await page.goto('/');
  const time = page.locator('time').first();
  await expect(time).not.toContainText('UTC');
  const written = await time.evaluate((element) =>
    new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone: 'Pacific/Auckland' }).format(
      new Date((element as HTMLTimeElement).dateTime),
    ),
  );
  await expect(time).toContainText(written);
  await context.close();
});
