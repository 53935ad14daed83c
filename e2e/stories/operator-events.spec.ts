import { makeOwner, sharedOperator, signIn } from '../support/people.ts';
import { buyPlan, subscriptionControls, turnSwitches } from '../support/provider.ts';
import { expect, test } from '../support/service.ts';

const ways = [
  { how: 'with JavaScript', organisation: 'Quill & Vellum', javaScriptEnabled: true },
  { how: 'without JavaScript', organisation: 'Thorn & Rowan', javaScriptEnabled: false },
];
for (const { how, organisation, javaScriptEnabled } of ways) {
  test(`an operator reads the payment provider’s events and syncs, ${how}`, async ({ browser, request, service }) => {
    const operator = await sharedOperator(service, request);
    await signIn({ request }, await makeOwner(service, request, { organisation }));
    const life = await subscriptionControls(service, request);
    await buyPlan(service, request, 'silver');
    await life.everythingDelivered();
    const operatorContext = await browser.newContext({ baseURL: service.baseUrl, javaScriptEnabled });
    const page = await operatorContext.newPage();
    await signIn(page, operator);

    await test.step('the search finds the organisation’s events', async () => {
      await page.goto('/operator');
      await page.getByRole('link', { name: 'Events' }).click();
      await expect(page.getByRole('heading', { name: 'Events', level: 1 })).toBeVisible();
      await page.getByLabel(/^Event, type, organisation/).fill(organisation);
      await page.getByRole('button', { name: 'Search' }).click();
      await expect(page).toHaveURL(/search=/);
      const own = page.getByRole('row').filter({ hasText: organisation });
      await expect(own.getByRole('link', { name: 'Subscription created' })).toBeVisible();
      await page.getByLabel(/^Event, type, organisation/).fill('nothing of this sort');
      await page.getByRole('button', { name: 'Search' }).click();
      await expect(page.getByText('No event matches “nothing of this sort”')).toBeVisible();
      await page.goto(`/operator/events?search=${encodeURIComponent(organisation)}`);
    });

    await test.step('an event is read', async () => {
      await page.getByRole('link', { name: 'Subscription created' }).click();
      await expect(page.getByText('It changed or confirmed something here.')).toBeVisible();
      await expect(page.locator('pre')).toContainText('"object": "event"');
      // The font of the pages draws the 9x0 of an id as 9×0.
      for (const id of await page.getByText(/^(evt|sub|cus)_\w+$/).all()) {
        await expect(id).toHaveCSS('font-family', /mono/i);
      }
      await expect(page.getByText('Silver, active')).toBeVisible();
    });

    await test.step('the organisation’s history is read, and its subscription synced', async () => {
      await page.getByRole('link', { name: organisation }).click();
      await expect(page.getByRole('heading', { name: organisation })).toBeVisible();
      await expect(page.getByText('Checkout opened')).toBeVisible();
      await expect(page.getByText('£24.00 paid').first()).toBeVisible();
      await page.getByRole('button', { name: /^Sync now: sub_/ }).click();
      await expect(page.getByRole('status').getByText('Synced')).toBeVisible();
      await expect(page.getByText('Synced a subscription')).toBeVisible();
    });

    await test.step('a row that drifts while the provider does not answer is shown, and synced later', async () => {
      const button = page.getByRole('button', { name: `Sync now: ${(await life.subscription()).id}` });
      await turnSwitches(service, { api_failure: 503 });
      try {
        await life.becomes('past_due');
        await life.emits('charge.refunded');
        await life.everythingDelivered();
        await page.goto('/operator/events');
        await page.getByRole('link', { name: 'Show what is out of sync' }).click();
        await expect(page.getByText('Needs a sync').first()).toBeVisible();
        await button.click();
        await expect(page.getByRole('alert')).toContainText('The payment provider does not answer.');
      } finally {
        await turnSwitches(service, null);
      }
      await button.click();
      await expect(page.getByRole('status').getByText('Synced')).toBeVisible();
      await expect(button).toBeHidden();
      await page.getByRole('button', { name: 'Compare all now' }).click();
      await expect(page.getByRole('status').getByText(/^\d+ subscriptions? compared/)).toBeVisible();
    });

    await test.step('noted events are listed', async () => {
      await page.getByRole('link', { name: 'Show them' }).click();
      await expect(page.getByRole('row', { name: 'charge.refunded' }).filter({ hasText: organisation })).toContainText(
        'Noted',
      );
    });

    await test.step('an unknown event is a 404, and so is an invalid id', async () => {
      expect((await page.request.get('/operator/events/evt_nowhere')).status()).toBe(404);
      for (const path of ['events/organisations/nobody', 'organisations/nobody', 'people/nobody']) {
        expect((await page.request.get(`/operator/${path}`)).status(), path).toBe(404);
      }
    });

    await operatorContext.close();
  });
}

test('users who are not operators get 403, and are told for whom the page is', async ({ page, request, service }) => {
  await signIn(page, await makeOwner(service, request));
  for (const path of ['', '/drift', '/evt_1', '/organisations/1']) {
    expect((await page.request.get(`/operator/events${path}`)).status(), path).toBe(403);
  }
  for (const [language, text] of [
    ['de', 'Diese Seite ist nur für den Betrieb von Gatehouse.'],
    ['fr', 'Cette page est réservée aux opérateurs de Gatehouse.'],
    ['en', 'This page is for operators of Gatehouse.'],
  ] as const) {
    await page.request.post('/language', { form: { language } });
    await page.goto('/operator');
    await expect(page.getByText(text)).toBeVisible();
  }
});

test('the doctor exits with 1 while a check fails, and with 0 beside a configured service', async ({ service }) => {
  const before = await service.operator('doctor');
  expect(before.stdout).toContain(
    'WRONG  Portal: It was never configured from here. Run the admin command billing-setup.',
  );
  expect(before.code).toBe(1);

  expect((await service.operator('billing-setup')).code).toBe(0);
  const { code, stdout, stderr } = await service.operator('doctor');
  expect(stdout).toMatch(/\nEverything is right\.\n$/);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});
