import { expectAccessible } from '../support/browser/accessibility.ts';
import { makeOwner, signIn } from '../support/people.ts';
import { buyPlan, subscriptionControls, turnSwitches } from '../support/provider.ts';
import { expect, test } from '../support/service.ts';

test('an administrator finds invoices, the next one and the card on /billing, also while the provider is silent', async ({
  page,
  request,
  service,
}) => {
  await signIn(page, await makeOwner(service, request));
  const section = page.getByRole('region', { name: 'Invoices' });
  await page.goto('/billing');
  await expect(section).toHaveCount(0);

  await buyPlan(service, page.request, 'silver');
  const life = await subscriptionControls(service, page.request);
  await life.everythingDelivered();

  await test.step('the first invoice, with its page and its PDF', async () => {
    await page.goto('/billing');
    const row = section.getByRole('row', { name: /SANDBOX-/ });
    await expect(row).toHaveCount(1);
    await expect(row).toContainText('£24');
    await expect(row).toContainText('Paid');
    await expect(row.getByRole('link', { name: /^PDF invoice SANDBOX-/ })).toHaveAttribute('href', /\/pdf$/);
    await expect(section).toContainText(/Next invoice\s*£24 on/);
    await expect(section).toContainText(/Visa ending in 4242, expires \d\d\/20\d\d/);
    await expectAccessible(page, 'billing with invoices');
    await row.getByRole('link', { name: /^View invoice/ }).click();
    await page.waitForURL(`${service.sandboxUrl}/pay/invoice/**`);
  });

  await test.step('while the provider is silent the page says what was known, and since when', async () => {
    await turnSwitches(service, { api_failure: 'hang' });
    await expect(async () => {
      await page.goto('/billing');
      await expect(section).toContainText('The payment provider isn’t answering', { timeout: 500 });
    }).toPass();
    await expect(section.getByRole('row', { name: /SANDBOX-/ })).toContainText('Paid');
    await turnSwitches(service, null);
  });

  await test.step('an invoice that is sent is open, with the days until it is due', async () => {
    await life.sendsInvoices(14);
    await life.everythingDelivered();
    await page.goto('/billing');
    await expect(page.getByText('Paid by invoice, due within 14 days.')).toBeVisible();
    await life.periodEnds();
    await life.everythingDelivered();
    await expect(async () => {
      await page.goto('/billing');
      await expect(section.getByRole('row', { name: /Due in \d+ days/ })).toContainText('Open', { timeout: 500 });
    }).toPass();
    await expect(page.getByText('Active', { exact: true })).toBeVisible();
    await expect(page.getByText('Your last payment didn’t go through.')).toHaveCount(0);
    await section.getByRole('link', { name: /^Pay invoice/ }).click();
    await page.waitForURL(`${service.sandboxUrl}/pay/invoice/**`);
    await page.getByRole('button', { name: /^Pay/ }).click();
    await life.everythingDelivered();
    await expect(async () => {
      await page.goto('/billing');
      await expect(section.getByText('Paid', { exact: true })).toHaveCount(2, { timeout: 500 });
    }).toPass();
  });
});
