import type { Page } from '@playwright/test';
import { layoutShifts } from '../support/browser/layout-shift.ts';
import { scriptsRun } from '../support/browser/scripts-run.ts';
import { makeOwner, signIn } from '../support/people.ts';
import { buyPlan, turnSwitches } from '../support/provider.ts';
import { expect, type Service, test } from '../support/service.ts';
import { openSetting } from '../support/settings.ts';

const live = (page: Page) => page.locator('body').getByRole('status').first();

async function openBillingOnGold(page: Page, service: Service) {
  await signIn(page, await makeOwner(service, page.request, { organisation: 'Quayside' }));
  await buyPlan(service, page.request, 'gold');
  await page.goto('/billing');
}

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? 'with JavaScript' : 'without JavaScript', () => {
    test.use({ javaScriptEnabled });

    test('the notice of a cancelled or kept plan is shown once, with its date, takes the focus and moves nothing', async ({
      page,
      service,
    }) => {
      await openBillingOnGold(page, service);
      const heading = page.getByRole('heading', { name: 'Billing', level: 1 });
      const before = await heading.boundingBox();
      await page.getByRole('link', { name: 'Cancel plan' }).click();
      await page.getByRole('button', { name: 'Cancel Gold' }).click();

      const notice = page.locator('#notice');
      await expect(notice).toContainText(/Gold is cancelled\. You have it until \d+ \w+ \d{4}\./);
      await expect(notice).toBeFocused();
      await expect(live(page)).toContainText('Gold is cancelled');
      expect(await heading.boundingBox()).toEqual(before);
      await page.reload();
      await expect(page.getByRole('button', { name: 'Keep Gold' })).toBeVisible();
      await expect(notice).toHaveCount(0);

      await page.getByRole('button', { name: 'Keep Gold' }).click();
      await expect(notice).toContainText(/Gold stays\. It renews on \d+ \w+ \d{4}\./);
      await expect(notice).toBeFocused();
      await page.getByRole('link', { name: 'Close' }).click();
      await expect(notice).toHaveCount(0);
      await expect(page).toHaveURL('/billing');
    });
  });
}

test('a dialog that is closed returns the focus to the link that opened it', async ({ page, service }) => {
  await openBillingOnGold(page, service);
  const opener = page.getByRole('link', { name: 'Cancel plan' });
  await opener.click();
  await expect(page.locator('dialog:modal')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(opener).toBeFocused();
  await page.goto('/billing?ask=cancel');
  await expect(page.locator('dialog:modal')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(opener).toBeFocused();
});

test('an error of cancelling a plan stands on the page, and the dialog opens again', async ({ page, service }) => {
  await openBillingOnGold(page, service);
  await scriptsRun(page);
  await turnSwitches(service, { api_failure: 'close', api_failure_only: 'POST /v1/subscriptions' });
  try {
    await page.getByRole('link', { name: 'Cancel plan' }).click();
    await page.getByRole('button', { name: 'Cancel Gold' }).click();
    await expect(page.getByRole('alert')).toContainText('payment provider');
    await expect(page.getByRole('dialog')).toHaveCount(0);
  } finally {
    await turnSwitches(service, null);
  }
  await page.getByRole('link', { name: 'Cancel plan' }).click();
  await page.getByRole('button', { name: 'Cancel Gold' }).click();
  await expect(page.locator('#notice')).toContainText('Gold is cancelled.');
});

test('inviting keeps the focus in the dialog, and returns it to the link that opened it', async ({ page, service }) => {
  await signIn(page, await makeOwner(service, page.request));
  await page.goto('/members');
  const opener = page.getByRole('link', { name: 'Invite someone' });
  const dialog = page.getByRole('dialog');
  await opener.press('Enter');
  await expect(dialog.getByLabel('For whom')).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(dialog.getByText('Send this link yourself')).toBeFocused();
  await dialog.getByRole('link', { name: 'Invite someone else' }).press('Enter');
  await expect(dialog.getByLabel('For whom')).toBeFocused();
  await page.keyboard.press('Enter');
  await dialog.getByRole('link', { name: 'Done' }).press('Enter');
  await expect(dialog).toHaveCount(0);
  await expect(opener).toBeFocused();
});

test('Esc asks before the link of an invitation is lost, unless it was copied', async ({ page, context, service }) => {
  await context.grantPermissions(['clipboard-write']);
  await signIn(page, await makeOwner(service, page.request, { organisation: 'Larch & Sons' }));
  const dialog = page.getByRole('dialog');
  const question = dialog.getByText('Close without copying the link?');
  const make = async () => {
    await page.goto('/members?invite');
    await scriptsRun(page);
    await dialog.getByRole('button', { name: 'Create invitation link' }).click();
    await expect(dialog.getByRole('heading', { name: 'Invitation link for a member' })).toBeVisible();
  };
  await make();
  const link = await dialog.getByLabel('The invitation’s link').inputValue();
  const mail = new URL((await dialog.getByRole('link', { name: 'Send by e-mail' }).getAttribute('href')) ?? '');
  expect([mail.protocol, mail.searchParams.get('subject'), mail.searchParams.get('body')]).toEqual([
    'mailto:',
    'Invitation to Larch & Sons',
    link,
  ]);
  await page.keyboard.press('Escape');
  await expect(question).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();

  await make();
  await dialog.getByRole('button', { name: 'Copy' }).click();
  await expect(dialog.getByRole('button', { name: 'Copied' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
});

test('a notice is gone on the next page, and its live region is the same element on both', async ({
  page,
  service,
}) => {
  await openBillingOnGold(page, service);
  await scriptsRun(page);
  await live(page).evaluate((element) => {
    (element as HTMLElement).dataset.seen = 'yes';
  });
  await page.getByRole('link', { name: 'Cancel plan' }).click();
  await page.getByRole('button', { name: 'Cancel Gold' }).click();
  await expect(page.locator('#notice')).toBeFocused();
  await page.getByRole('link', { name: 'Members' }).first().click();
  await expect(page).toHaveURL('/members');
  await expect(page.locator('#notice')).toHaveCount(0);
  await expect(live(page)).toHaveAttribute('data-seen', 'yes');
});

test('no link puts a notice on a page', async ({ page }) => {
  const made = JSON.stringify({ text: ['Call 0900 1234.'] });
  await page.goto(`/login?notice=${encodeURIComponent(made)}&done=Call`);
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
  await expect(page.locator('#notice')).toHaveCount(0);
});

test('a form whose request fails keeps the page and the typed text, and reports the failure', async ({
  page,
  service,
}) => {
  await signIn(page, await makeOwner(service, page.request));
  await page.goto('/account');
  await scriptsRun(page);
  await openSetting(page, 'Name');
  const name = page.getByLabel('Your name');
  await name.fill('Mia Larch');
  await page.route('**/account?/*', (route) => route.abort('connectionreset'));
  await name.press('Enter');
  await expect(live(page)).toContainText('We could not reach the server. What you typed is still here.');
  await expect(name).toHaveValue('Mia Larch');
  await expect(page).toHaveURL('/account');

  await page.unroute('**/account?/*');
  await name.press('Enter');
  await expect(live(page)).not.toContainText('We could not reach');
});

for (const viewport of [
  { width: 320, height: 568 },
  { width: 1280, height: 600 },
]) {
  test(`at ${viewport.width} px a notice moves nothing and covers no control at the end of the page`, async ({
    page,
    service,
  }) => {
    await signIn(page, await makeOwner(service, page.request));
    await page.setViewportSize(viewport);
    await page.goto('/account');
    await scriptsRun(page);
    await openSetting(page, 'Name');
    await page.getByLabel('Your name').fill('Mia Larch');
    // The row that was opened has moved those below it.
    const { length: before } = await layoutShifts(page, { afterInput: true });
    await page.route('**/account?/*', (route) => route.abort('connectionreset'));
    await page.getByLabel('Your name').press('Enter');
    await expect(page.locator('#notice')).toBeInViewport({ ratio: 1 });
    expect((await layoutShifts(page, { afterInput: true })).slice(before)).toEqual([]);

    await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
    const covered = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('footer :is(a, button)')].filter((control) => {
        if (!control.checkVisibility()) return false;
        const { left, top, width, height } = control.getBoundingClientRect();
        return !control.contains(document.elementFromPoint(left + width / 2, top + height - 1));
      }),
    );
    expect(covered).toHaveLength(0);
    await expect(page.locator('#notice')).toBeInViewport({ ratio: 1 });

    // The focus moves up the page from its end, never behind the notice.
    await page.locator('#notice').focus();
    for (let count = 0; count < 12; count++) {
      const focused = await page.evaluate(() => {
        const element = document.activeElement;
        const notice = document.getElementById('notice');
        if (!element || !notice || notice.contains(element)) return null;
        return element.getBoundingClientRect().bottom > notice.getBoundingClientRect().top ? element.outerHTML : null;
      });
      expect(focused).toBeNull();
      await page.keyboard.press('Tab');
    }
  });
}

test('a notice is gone when a later form of the page shows its answer', async ({ page, service }) => {
  await signIn(page, await makeOwner(service, page.request));
  await page.goto('/keys');
  await page.getByLabel('Name', { exact: true }).fill('Worker');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('link', { name: /^Revoke/ }).click();
  await page.getByRole('dialog').getByRole('button').click();
  await expect(page.locator('#notice')).toContainText('Worker');
  await page.getByLabel('Name', { exact: true }).fill('Second');
  await page.getByRole('button', { name: 'Create key' }).click();
  await expect(page.getByLabel('The new API key')).toBeVisible();
  await expect(page.locator('#notice')).toHaveCount(0);
});

test('success goes by itself, and what can be undone stays', async ({ page, service }) => {
  await page.clock.install();
  await signIn(page, await makeOwner(service, page.request));
  await page.goto('/account');
  await scriptsRun(page);
  await openSetting(page, 'Name');
  await page.getByLabel('Your name').fill('Mia Larch');
  await page.getByLabel('Your name').press('Enter');
  const row = page.locator('summary', { hasText: 'Mia Larch' });
  await expect(row).toContainText('Saved');
  await expect(row).toBeFocused();
  await page.clock.fastForward(20_000);
  await expect(row).not.toContainText('Saved');
  await expect(live(page)).toBeEmpty();

  await page.goto('/');
  await scriptsRun(page);
  await page.getByRole('button', { name: 'Hide the next steps' }).click();
  await expect(page.getByRole('button', { name: 'Show them' })).toBeVisible();
  await page.clock.fastForward(120_000);
  await page.getByRole('button', { name: 'Show them' }).click();
  await expect(page.getByRole('heading', { name: 'Next steps' })).toBeVisible();
});
