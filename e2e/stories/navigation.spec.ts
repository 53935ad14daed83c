import { expectAccessible } from '../support/browser/accessibility.ts';
import { expectFitsWindow } from '../support/browser/page-width.ts';
import { scriptsRun } from '../support/browser/scripts-run.ts';
import { inviteOn, makeOwner, passPhrase, sharedOperator, signIn } from '../support/people.ts';
import { expect, test } from '../support/service.ts';

test('the top bar has four links, and the account is in the menu of the avatar', async ({ page, request, service }) => {
  await signIn(page, await makeOwner(service, request));
  await page.goto('/keys');
  const bar = page.getByRole('banner');
  const links = bar.getByRole('navigation', { name: 'Pages' }).first();
  await expect(links.getByRole('link')).toHaveText(['Home', 'Members', 'Billing', 'Settings']);
  await expect(links.locator('[aria-current]')).toHaveText('Settings');
  const tabs = page.getByRole('navigation', { name: 'Settings' });
  await expect(tabs.locator('[aria-current=page]')).toHaveText('API keys');
  await expect(page.getByRole('main').getByRole('link', { name: 'API documentation' })).toHaveAttribute(
    'href',
    '/api/docs',
  );

  await bar.getByLabel('your account').click();
  const [summary, menu] = await bar
    .locator('details[open]')
    .evaluate((details) => [...details.children].map((each) => each.getBoundingClientRect()));
  expect((menu?.top ?? 0) - (summary?.bottom ?? 0)).toBe(4);
  await bar.getByRole('link', { name: 'Account' }).click();
  await expect(page).toHaveURL('/account');
  await expect(links.locator('[aria-current]')).toHaveCount(0);
});

test('a menu that was opened before the scripts have loaded stays open, and closes with the next page', async ({
  page,
  request,
  service,
}) => {
  await signIn(page, await makeOwner(service, request));
  let load = () => {};
  const held = new Promise<void>((resolve) => {
    load = resolve;
  });
  await page.route('**/_app/**/*.js', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto('/billing', { waitUntil: 'commit' });
  await page.getByLabel('your account').click();
  load();
  await scriptsRun(page);
  await page.getByRole('link', { name: 'Account', exact: true }).click();
  await expect(page).toHaveURL('/account');
  await expect(page.locator('details[open]')).toHaveCount(0);
});

test('a clicked tab is marked before its page has arrived', async ({ page, request, service }) => {
  await signIn(page, await makeOwner(service, request));
  await page.goto('/organisation');
  await scriptsRun(page);
  let answer = () => {};
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route('**/__data.json**', async (route) => {
    await held;
    await route.continue();
  });
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'API keys' }).click();
  await expect(page.getByRole('navigation', { name: 'Settings' }).locator('[aria-current]')).toHaveText('API keys');
  await expect(page).toHaveURL('/organisation');
  await page.getByRole('link', { name: 'Billing' }).first().click();
  await expect(page.getByRole('banner').locator('nav [aria-current]').first()).toHaveText('Billing');
  answer();
  await expect(page).toHaveURL('/billing');
});

test.describe('on a phone', () => {
  test.use({ viewport: { width: 320, height: 200 }, locale: 'de-DE' });

  test('tabs are one line that scrolls, with the current one in view, and a dialog opens at its title', async ({
    page,
    request,
    service,
  }) => {
    await signIn(page, await sharedOperator(service, request));
    for (const path of ['/account/data', '/keys', '/operator/keys']) {
      await page.goto(path);
      await scriptsRun(page);
      const tabs = page.locator('main nav').first();
      expect((await tabs.boundingBox())?.height).toBeLessThanOrEqual(44);
      await expectFitsWindow(page, path);
      const seen = await tabs.evaluate((nav) => {
        const current = nav.querySelector('[aria-current]')?.getBoundingClientRect();
        const { left, right } = nav.getBoundingClientRect();
        return current && current.left >= left - 1 && current.right <= right + 1;
      });
      expect(seen, path).toBe(true);
    }

    await page.goto('/organisation?ask=delete');
    const dialog = page.locator('dialog:modal');
    await expect(dialog.getByRole('heading').first()).toBeFocused();
    expect(
      await dialog.evaluate((element) => [element.scrollTop, element.scrollHeight > element.clientHeight]),
    ).toEqual([0, true]);
  });
});

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? 'with JavaScript' : 'without JavaScript', () => {
    test.use({ javaScriptEnabled });

    test('the only owner of others is shown two ways out before the account can be deleted', async ({
      browser,
      page,
      request,
      service,
    }) => {
      await signIn(page, await makeOwner(service, request, { organisation: 'Larch & Sons' }));
      const invitation = await inviteOn(page);
      const theirs = await (await browser.newContext({ baseURL: service.baseUrl })).newPage();
      await signIn(theirs, await makeOwner(service, request, { organisation: 'Quayside' }));
      await theirs.goto(invitation);
      await theirs.getByRole('button', { name: 'Join Larch & Sons' }).click();
      await expect(theirs).toHaveURL('/');
      await theirs.context().close();

      for (const [way, question] of [
        ['Transfer ownership', 'Transfer Larch & Sons?'],
        ['Delete the organisation…', 'Delete Larch & Sons?'],
      ] as const) {
        await page.goto('/account/delete');
        await expect(page.getByRole('heading', { name: 'You’re the only owner of Larch & Sons' })).toBeVisible();
        await expect(page.getByRole('button', { name: 'Delete the account' })).toHaveCount(0);
        if (javaScriptEnabled) await expectAccessible(page, 'the deletion of an only owner');
        await page.getByRole('button', { name: way }).click();
        await expect(page.getByRole('dialog').getByRole('heading', { name: question })).toBeVisible();
      }
      await page.getByLabel('Your password').fill(passPhrase);
      await page.getByRole('dialog').getByRole('button', { name: 'Delete the organisation' }).click();
      await expect(page.getByRole('dialog')).toHaveCount(0);
      await page.goto('/account/delete');
      await expect(page.getByRole('button', { name: 'Delete the account' })).toBeVisible();
    });
  });
}
