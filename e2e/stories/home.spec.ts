import { expectAccessible } from '../support/browser/accessibility.ts';
import { makeOwner, signIn } from '../support/people.ts';
import { subscriptionControls } from '../support/provider.ts';
import { expect, test } from '../support/service.ts';

test('home lists the next steps until they are done, and shows a failed payment first', async ({
  page,
  request,
  service,
}) => {
  await signIn(page, await makeOwner(service, request, { organisation: 'First Steps' }));
  await page.goto('/');
  const steps = page.getByRole('region', { name: 'Next steps' });

  await test.step('a step that is done is ticked, and stays in the list', async () => {
    await expect(steps).toContainText('0 of 3 done');
    await steps.getByRole('link', { name: 'Add name' }).click();
    await expect(page.getByLabel('Your name')).toBeFocused();
    await page.getByLabel('Your name').fill('Ada Larch');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('Your name is saved.')).toBeVisible();
    await page.goto('/');
    await expect(steps).toContainText('1 of 3 done');
    await expect(steps.getByRole('listitem').first()).toHaveText(/Add your name\s+\(done\)/);
    await expect(steps.getByRole('link', { name: 'Add name' })).toHaveCount(0);
  });

  await test.step('a paid plan is a step', async () => {
    await steps.getByRole('link', { name: 'See plans' }).click();
    await page.getByRole('button', { name: 'Choose Silver' }).click();
    await page.getByRole('button', { name: /^Pay/ }).click();
    await expect(page.getByText('You are on Silver')).toBeVisible();
    await page.goto('/');
    await expect(steps).toContainText('2 of 3 done');
    await expect(page.getByText(/^Silver, renews on \d+ \w+ \d{4}\. Just you so far\.$/)).toBeVisible();
  });

  await test.step('a failed payment is the first thing below the title, with a link that pays', async () => {
    const life = await subscriptionControls(service, page.request);
    await life.everythingDelivered();
    await life.cardDeclinesFromNowOn();
    await life.periodEnds();
    await life.everythingDelivered();
    await expect(async () => {
      await page.goto('/');
      await expect(page.getByRole('main').getByRole('heading').nth(1)).toHaveText('Your payment failed', {
        timeout: 500,
      });
    }).toPass({ timeout: 60_000 });
    await expect(page.getByText(/Pay by \d+ \w+ to keep Silver\.$/)).toBeVisible();
    await expect(page.getByRole('link', { name: 'Pay now' })).toHaveAttribute('href', /\/pay\/invoice\//);
    await expectAccessible(page, 'home with a failed payment');
  });
});

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? 'with JavaScript' : 'without JavaScript', () => {
    test.use({ javaScriptEnabled });

    test('a user who stays alone and on the free plan can hide the next steps, and show them again', async ({
      page,
      request,
      service,
    }) => {
      await signIn(page, await makeOwner(service, request));
      await page.goto('/');
      const steps = page.getByRole('region', { name: 'Next steps' });
      await page.getByRole('button', { name: 'Hide the next steps' }).click();
      await expect(page.locator('#notice')).toContainText('The next steps are hidden in this browser.');
      await expect(steps).toHaveCount(0);
      await page.goto('/');
      await expect(page.getByRole('heading', { name: 'Usage' })).toBeVisible();
      await expect(steps).toHaveCount(0);

      await page.context().clearCookies({ name: 'steps' });
      await page.goto('/');
      await page.getByRole('button', { name: 'Hide the next steps' }).click();
      await page.locator('#notice').getByRole('button', { name: 'Show them' }).click();
      await expect(steps).toContainText('0 of 3 done');
    });
  });
}
