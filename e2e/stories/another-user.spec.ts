import type { Page } from '@playwright/test';
import { scriptsRun } from '../support/browser/scripts-run.ts';
import { inviteOn, makeOwner, passPhrase, signIn } from '../support/people.ts';
import { expect, type Service, test } from '../support/service.ts';
import { openSetting } from '../support/settings.ts';

/** Signs in as it would happen in another tab of the same browser. */
async function signInElsewhere(page: Page, email: string): Promise<void> {
  expect((await page.request.post('/api/login', { data: { email, password: passPhrase } })).status()).toBe(200);
}

async function openNameForm(page: Page, service: Service): Promise<{ mine: string; theirs: string }> {
  const mine = await makeOwner(service, page.request, { organisation: 'Quayside' });
  const theirs = await makeOwner(service, page.request, { organisation: 'Larch & Sons' });
  await signIn(page, mine);
  await page.goto('/account');
  await openSetting(page, 'Name');
  await page.getByLabel('Your name').fill('Mia Larch');
  return { mine, theirs };
}

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? 'with JavaScript' : 'without JavaScript', () => {
    test.use({ javaScriptEnabled });

    test('a form of a page that was opened for another user changes nothing, says who is signed in and keeps what was typed', async ({
      page,
      service,
    }) => {
      const { theirs } = await openNameForm(page, service);
      await signInElsewhere(page, theirs);
      await page.getByLabel('Your name').press('Enter');

      const notice = page.locator('#notice');
      await expect(notice).toContainText(
        `You are now signed in as ${theirs}; this page was opened for another account. Nothing was changed.`,
      );
      await expect(page.getByRole('alert')).toHaveCount(0);
      await expect(page.getByLabel('Your name')).toHaveValue('Mia Larch');
      expect((await (await page.request.get('/api/session')).json()).user).toMatchObject({ email: theirs, name: null });

      await notice.getByRole('link', { name: 'Reload the page' }).click();
      await expect(page).toHaveURL('/account');
      await expect(page.getByText('Larch & Sons')).toBeVisible();
      await expect(notice).toHaveCount(0);
    });

    test('the page of an invitation that another user opened can be loaded again', async ({ page, service }) => {
      const host = await makeOwner(service, page.request);
      const mine = await makeOwner(service, page.request);
      const theirs = await makeOwner(service, page.request);
      await signIn(page, host);
      const invitation = await inviteOn(page);
      await page.context().clearCookies();
      await signIn(page, mine);
      await page.goto(invitation);
      await signInElsewhere(page, theirs);
      await page.getByRole('button', { name: 'Join' }).click();

      const notice = page.locator('#notice');
      await expect(notice).toContainText(`You are now signed in as ${theirs}`);
      await notice.getByRole('link', { name: 'Reload the page' }).click();
      await expect(page).toHaveURL(invitation);
      await expect(page.getByRole('button', { name: 'Join' })).toBeVisible();
    });

    test('a form still works after its user signed in again', async ({ page, service }) => {
      const { mine, theirs } = await openNameForm(page, service);
      await signInElsewhere(page, theirs);
      await signInElsewhere(page, mine);
      await page.getByLabel('Your name').press('Enter');

      await expect(page.getByRole('status').first()).toContainText('Your name is saved.');
      expect((await (await page.request.get('/api/session')).json()).user).toMatchObject({ name: 'Mia Larch' });
    });
  });
}

test('a dialog shows that another user has signed in', async ({ page, service }) => {
  const mine = await makeOwner(service, page.request);
  const theirs = await makeOwner(service, page.request);
  await signIn(page, mine);
  await page.goto('/members');
  await scriptsRun(page);
  await page.getByRole('link', { name: 'Invite someone' }).click();
  const dialog = page.locator('dialog:modal');
  await dialog.getByLabel('For whom').fill('Noor');
  await signInElsewhere(page, theirs);
  await page.keyboard.press('Enter');

  await expect(dialog.getByRole('status')).toContainText(`You are now signed in as ${theirs}`);
  await expect(dialog.getByLabel('For whom')).toHaveValue('Noor');
  await dialog.getByRole('link', { name: 'Reload the page' }).click();
  await expect(page.getByRole('main').getByText(theirs)).toBeVisible();

  await test.step('and a link then loads the document of the next user, its top bar included, once', async () => {
    await page.goto('/members');
    await scriptsRun(page);
    await signInElsewhere(page, mine);
    const documents: string[] = [];
    page.on('request', (request) => {
      if (request.resourceType() === 'document') documents.push(new URL(request.url()).pathname);
    });
    await page.getByRole('link', { name: 'Billing' }).first().click();

    await expect(page.getByRole('banner').getByText(mine)).toBeAttached();
    await expect(page.getByRole('heading', { level: 1, name: 'Billing' })).toBeVisible();
    await expect(page.getByRole('banner').getByText(theirs)).toHaveCount(0);
    await scriptsRun(page);
    await page.getByRole('link', { name: 'Members' }).first().click();
    await expect(page.getByRole('main').getByText(mine)).toBeVisible();
    expect(documents).toEqual(['/billing']);
  });
});
