import type { Browser, Page } from '@playwright/test';
import { scriptsRun } from '../support/browser/scripts-run.ts';
import { inviteOn, makeOwner, signIn } from '../support/people.ts';
import { buyPlan } from '../support/provider.ts';
import { expect, type Service, test } from '../support/service.ts';

/** Signs an owner in on `page`, and the user who joined by their invitation on the returned page. */
async function join(page: Page, browser: Browser, service: Service, role: string, javaScriptEnabled = true) {
  await signIn(page, await makeOwner(service, page.request, { organisation: 'Larch & Sons' }));
  await buyPlan(service, page.request, 'gold');
  const invitation = await inviteOn(page, role);
  const context = await browser.newContext({ baseURL: service.baseUrl, javaScriptEnabled });
  const theirs = await context.newPage();
  const email = await makeOwner(service, theirs.request);
  await signIn(theirs, email);
  await theirs.goto(invitation);
  await theirs.getByRole('button', { name: 'Join Larch & Sons' }).click();
  await expect(theirs).toHaveURL('/');
  return { theirs, email };
}

/** Opens the dialog behind a page's link, once its scripts run. */
async function openDialog(page: Page, path: string, link: string): Promise<void> {
  await page.goto(path);
  await scriptsRun(page);
  await page.getByRole('link', { name: link }).click();
  await expect(page.locator('dialog:modal')).toBeVisible();
}

/** Presses the button of a dialog that another tab has overtaken: the dialog says what failed, and has the focus. */
async function expectRefusal(page: Page, button: string, text: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: button }).click();
  await expect(dialog.getByRole('alert')).toContainText(text);
  await expect(dialog.getByRole('alert')).toBeFocused();
  await expect(page.getByRole('alert')).toHaveCount(1);
}

test('a member who is removed in one tab is refused in the dialog of the other, and so is leaving', async ({
  browser,
  page,
  service,
}) => {
  const { theirs, email } = await join(page, browser, service, 'Viewer');
  const late = await page.context().newPage();
  await openDialog(late, '/members', `Remove ${email}`);
  await openDialog(theirs, '/members', 'Leave Larch & Sons');
  await openDialog(page, '/members', `Remove ${email}`);
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await expect(page.getByText(`${email} is no longer a member.`)).toBeVisible();

  await expectRefusal(late, 'Remove', 'There is no such member.');
  await theirs.request.post('/api/logout');
  await expectRefusal(theirs, 'Leave', 'You have been signed out.');
});

test('a key that is revoked in one tab is refused in the dialog of the other', async ({ page, service }) => {
  await signIn(page, await makeOwner(service, page.request));
  await page.goto('/keys');
  await page.getByLabel('Name').fill('Worker');
  await page.getByRole('button', { name: 'Create key' }).click();
  await expect(page.getByLabel('The new API key')).toBeVisible();
  const late = await page.context().newPage();
  await openDialog(late, '/keys', 'Revoke Worker');
  await openDialog(page, '/keys', 'Revoke Worker');
  await page.getByRole('button', { name: 'Revoke key' }).click();
  await expect(page.getByText('Revoked', { exact: true })).toBeVisible();
  await expectRefusal(late, 'Revoke key', 'There is no such');
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('an admin who lost the role while the invitation was open reads on the page that it was refused', async ({
    browser,
    page,
    service,
  }) => {
    const { theirs, email } = await join(page, browser, service, 'Admin', false);
    await theirs.goto('/members?invite');
    await page.goto('/members');
    const row = page.getByRole('row').filter({ hasText: email });
    await row.getByRole('combobox').selectOption('Viewer');
    await row.getByRole('button', { name: 'Change' }).click();
    await expect(page.getByText(`${email} is now a viewer.`)).toBeVisible();

    await theirs.getByRole('button', { name: 'Create invitation link' }).click();
    await expect(theirs.getByRole('dialog')).toHaveCount(0);
    await expect(theirs.getByRole('alert')).toBeVisible();
    await theirs.context().close();
  });
});
