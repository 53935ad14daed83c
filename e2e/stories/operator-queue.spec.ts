import type { Page } from '@playwright/test';
import { expectFitsWindow } from '../support/browser/page-width.ts';
import { scriptsRun } from '../support/browser/scripts-run.ts';
import { difficultNames, makeOwner, newEmail, sharedOperator, signIn } from '../support/people.ts';
import { expect, test } from '../support/service.ts';

async function openQueue(page: Page, operator: string, search: string) {
  await signIn(page, operator);
  await page.goto(`/operator?search=${search}`);
}

function boxes(page: Page) {
  return page.getByRole('table').getByRole('checkbox');
}

test('any number of requests can be ticked and decided together', async ({ page, request, service }) => {
  for (const name of ['Ash', 'Beech', 'Cedar']) {
    await makeOwner(service, request, { approved: false, organisation: `Grove ${name}` });
  }
  const operator = await sharedOperator(service, request);
  await openQueue(page, operator, 'Grove');

  await test.step('ticking a second request keeps the first ticked', async () => {
    await boxes(page).nth(0).check();
    await boxes(page).nth(1).check();
    await expect(boxes(page).nth(0)).toBeChecked();
    await expect(page.getByText('2 selected')).toBeVisible();
    await page.getByLabel('2 selected').check();
    await expect(boxes(page).nth(2)).toBeChecked();
    await page.getByLabel('3 selected').uncheck();
    await expect(boxes(page).nth(0)).not.toBeChecked();
  });

  await test.step('checkboxes that were ticked before the scripts loaded count', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/\.js$/, async (route) => {
      await held;
      await route.continue();
    });
    await page.reload({ waitUntil: 'commit' });
    await boxes(page).nth(0).check();
    await boxes(page).nth(1).check();
    await page.getByRole('searchbox').fill('Birch');
    release();
    await expect(page.getByText('2 selected')).toBeVisible();
    await expect(boxes(page).nth(0)).toBeChecked();
    await expect(page.getByRole('searchbox')).toHaveValue('Birch');
    await page.getByRole('button', { name: 'Approve the selected requests' }).click();
    await expect(page.getByRole('status').getByText('2 organisations are approved.')).toBeVisible();
    await expect(page.getByRole('row', { name: /Grove/ })).toHaveCount(1);
    await expect(page.getByRole('row', { name: /Grove Cedar/ })).toBeVisible();
  });

  await test.step('a search keeps what is typed until its answer arrives', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/__data\.json/, async (route) => {
      await held;
      await route.continue();
    });
    await page.getByRole('searchbox').fill('Cedar');
    await page.getByRole('searchbox').press('Enter');
    await page.getByRole('searchbox').pressSequentially(' and');
    release();
    await expect(page).toHaveURL(/search=Cedar/);
    await expect(page.getByRole('searchbox')).toHaveValue('Cedar and');
    await page.getByRole('searchbox').press('Enter');
    await page.getByRole('link', { name: 'Show all requests' }).click();
    await expect(page.getByRole('searchbox')).toHaveValue('');
  });
});

test('a decision names its organisation and focuses the next row; a click on a row that just moved does nothing', async ({
  page,
  request,
  service,
}) => {
  for (const name of ['Ash', 'Beech', 'Cedar', 'Elm']) {
    await makeOwner(service, request, { approved: false, organisation: `Copse ${name}` });
  }
  const operator = await sharedOperator(service, request);
  await openQueue(page, operator, 'Copse');

  const approve = page.getByRole('button', { name: /^Approve Copse/ });
  await expect(page.getByText('Select all')).toBeVisible();
  const place = await approve.nth(0).boundingBox();
  const click = () => page.mouse.click((place?.x ?? 0) + 20, (place?.y ?? 0) + 10);
  await page.evaluate(() => {
    // Presses again in the moment in which the next row has moved under the pointer.
    const rows = document.querySelector('tbody');
    const moved = new MutationObserver(() => {
      moved.disconnect();
      document.querySelector<HTMLElement>('[data-action=approve]')?.click();
    });
    if (rows) moved.observe(rows, { childList: true });
  });
  await click();
  await expect(approve).toHaveCount(3);
  await page.waitForTimeout(400);
  await expect(approve).toHaveCount(3);
  await expect(page.getByRole('status').getByText('Copse Ash is approved.')).toBeVisible();
  await expect(page.getByRole('button', { name: /^Approve Copse Beech, owner-.*@company\.example$/ })).toBeFocused();

  await page.keyboard.press('Enter');
  await expect(approve).toHaveCount(2);
  await expect(page.getByRole('button', { name: /^Approve Copse Cedar/ })).toBeFocused();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(approve).toHaveCount(3);
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('two of three requests are decided together', async ({ page, request, service }) => {
    for (const name of ['Ash', 'Beech', 'Cedar']) {
      await makeOwner(service, request, { approved: false, organisation: `Hedge ${name}` });
    }
    const operator = await sharedOperator(service, request);
    await openQueue(page, operator, 'Hedge');

    await boxes(page).nth(0).check();
    await boxes(page).nth(2).check();
    await page.getByRole('button', { name: 'Decline the selected requests' }).click();
    await expect(page.getByRole('dialog').getByRole('listitem')).toHaveText(['Hedge Ash', 'Hedge Cedar']);
    expect([...new URL(page.url()).searchParams.keys()]).not.toContain('rendered_for');
    await page.getByRole('dialog').getByRole('button', { name: 'Decline' }).click();
    await expect(page.getByRole('row', { name: /Hedge/ })).toHaveCount(1);
    await expect(page.getByRole('row', { name: /Hedge Beech/ })).toBeVisible();
  });
});

test('the queue is a table with a caption and row headers, in rows of 56 px with one solid button', async ({
  page,
  request,
  service,
}) => {
  for (const name of ['Ash', 'Beech']) {
    const email = newEmail('owner', 'arbour.example');
    await makeOwner(service, request, { approved: false, organisation: `Arbour ${name}`, email });
  }
  const operator = await sharedOperator(service, request);
  await page.setViewportSize({ width: 1280, height: 800 });
  await openQueue(page, operator, 'Arbour');

  const table = page.getByRole('table', { name: 'Organisations that wait for a decision' });
  await expect(table.getByRole('columnheader', { name: 'Actions' })).toBeVisible();
  await expect(table.getByRole('rowheader')).toHaveText(['Arbour Ash', 'Arbour Beech']);
  const tops = new Set<number>();
  for (const item of await table
    .getByRole('row', { name: /Arbour Ash/ })
    .getByRole('listitem')
    .all()) {
    tops.add((await item.boundingBox())?.y ?? 0);
  }
  expect(tops.size).toBe(1);
  for (const row of await table.getByRole('row', { name: /Arbour/ }).all()) {
    // 56, and a hairline.
    expect((await row.boundingBox())?.height).toBeLessThanOrEqual(57);
  }

  await boxes(page).nth(0).check();
  const fill = (name: string) =>
    page.getByRole('button', { name }).evaluate((button) => getComputedStyle(button).backgroundColor);
  expect(await fill('Approve Arbour Ash')).not.toBe(await fill('Approve the selected requests'));
});

test('the queue weighs less than 150,000 bytes beside the font that all pages share, and so does the document of 50 requests; all that a search finds is selected beyond the page, decided at once and undone at once', async ({
  page,
  request,
  service,
}) => {
  const make = () => makeOwner(service, request, { approved: false, email: newEmail('owner', 'wood.example') });
  const operator = await sharedOperator(service, request);
  await Promise.all(Array.from({ length: 5 }, make));
  await signIn(page, operator);
  const fonts = new Set<string>();
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.enable');
  let bytes = 0;
  devtools.on('Network.responseReceived', ({ requestId, type }) => {
    if (type === 'Font') fonts.add(requestId);
  });
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (!fonts.has(requestId)) bytes += encodedDataLength;
  });
  await page.goto('/operator?search=wood.example', { waitUntil: 'networkidle' });
  await expect(page.getByRole('rowheader')).toHaveCount(5);
  expect(bytes).toBeLessThan(150_000);

  for (let made = 5; made < 50; made += 15) await Promise.all(Array.from({ length: 15 }, make));
  const document = await page.goto('/operator?search=wood.example');
  await expect(page.getByRole('rowheader')).toHaveCount(50);
  expect((await document?.body())?.length).toBeLessThan(150_000);

  await make();
  await test.step('the list follows what is typed, and the focus stays', async () => {
    await page.goto('/operator');
    await scriptsRun(page);
    await page.getByRole('searchbox').pressSequentially('wood.example');
    await expect(page).toHaveURL('/operator?search=wood.example');
    await expect(page.getByRole('rowheader')).toHaveCount(50);
    await expect(page.getByRole('searchbox')).toBeFocused();
    await expect(page.getByRole('searchbox')).toHaveValue('wood.example');
  });

  await page.getByLabel('Select all', { exact: true }).check();
  await expect(page.getByText('50 on this page.')).toBeVisible();
  await page.getByRole('button', { name: 'Select all 51.' }).click();
  await expect(page.getByText('All 51 selected')).toBeVisible();
  // The list ignores clicks for 300 ms after its rows changed.
  await expect(() => boxes(page).nth(3).uncheck()).toPass();
  await expect(page.getByText('49 selected')).toBeVisible();
  await boxes(page).nth(3).check();
  await page.getByRole('button', { name: 'Select all 51.' }).click();
  await page.getByRole('button', { name: 'Decline the selected requests' }).click();
  await expect(page.getByRole('dialog', { name: 'Decline 51 organisations?' })).toBeVisible();
  await page.getByRole('dialog').getByRole('button', { name: 'Decline' }).click();
  await expect(page.getByText('51 organisations are declined.')).toBeVisible();
  await expect(page.getByRole('rowheader')).toHaveCount(0);

  await page.locator('#notice').getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByText('51 organisations wait for a decision again.')).toBeVisible();
  await expect(page.getByRole('rowheader')).toHaveCount(50);

  await test.step('without a script a box of its own selects them all', async () => {
    const context = await page
      .context()
      .browser()
      ?.newContext({
        baseURL: service.baseUrl,
        javaScriptEnabled: false,
        storageState: await page.context().storageState(),
      });
    const plain = await context?.newPage();
    if (!plain) throw new Error('there is no browser');
    await plain.goto('/operator?search=wood.example');
    await plain.getByLabel('Select all 51.').check();
    await plain.getByRole('button', { name: 'Approve the selected requests' }).click();
    await expect(plain.getByText('51 organisations are approved.')).toBeVisible();
    await context?.close();
  });
});

test('no name pushes an action off the page, and names keep their direction', async ({ page, request, service }) => {
  for (const organisation of difficultNames) await makeOwner(service, request, { approved: false, organisation });
  const operator = await sharedOperator(service, request);
  await signIn(page, operator);

  for (const width of [320, 390, 800, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto('/operator');
    await expectFitsWindow(page, `${width} px`);
    for (const action of ['button', 'link'] as const) {
      for (const button of await page
        .getByRole('table')
        .getByRole(action, { name: /^(Approve|Decline)/ })
        .all()) {
        const box = await button.boundingBox();
        expect((box?.x ?? 0) + (box?.width ?? width), `${width} px`).toBeLessThanOrEqual(width);
        expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(24);
      }
    }
    await expect(page.getByRole('columnheader', { name: 'Organisation' })).toBeAttached();
    await expect(page.getByRole('row')).not.toHaveCount(0);
  }
  await expect(page.locator('bdi', { hasText: 'شركة النور للبصريات' }).first()).toBeVisible();
  await page.getByRole('link', { name: 'Decline شركة النور للبصريات' }).first().click();
  await expect(page.getByRole('dialog').getByRole('heading').locator('bdi')).toHaveText('شركة النور للبصريات');
});
