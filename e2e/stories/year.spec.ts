import { makeOwner, signIn } from '../support/people.ts';
import { subscriptionControls } from '../support/provider.ts';
import { expect, test as onSharedService, type Service, startService } from '../support/service.ts';

/** A service on which an open or a lost dispute takes the plan. */
const test = onSharedService.extend<object, { service: Service }>({
  service: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the requested fixtures.
    async ({}, use) => {
      const service = await startService({ environment: { PAYMENT_DISPUTES: 'end' } });
      await use(service);
      await service.stop();
    },
    { scope: 'worker', timeout: 300_000 },
  ],
});

test('a year of an organisation: bought, failed, fixed, upgraded, disputed, refunded, written off, planned, cancelled', async ({
  page,
  request,
  service,
}) => {
  test.setTimeout(600_000);
  await signIn(page, await makeOwner(service, request, { organisation: 'Larch & Sons' }));
  const life = await subscriptionControls(service, page.request);

  /** Expects a tier and sentences on a page, once the service knows the provider's state. */
  async function says(tier: string, path: string, ...sentences: (string | RegExp)[]): Promise<void> {
    await life.everythingDelivered();
    await expect(async () => {
      await page.goto(path);
      expect((await (await page.request.get('/api/subscription')).json()).plan.tier).toBe(tier);
      for (const sentence of sentences) await expect(page.getByText(sentence).first()).toBeVisible({ timeout: 500 });
    }).toPass({ timeout: 60_000 });
  }

  await test.step('Silver is bought', async () => {
    await page.goto('/billing');
    await page.getByRole('button', { name: 'Choose Silver' }).click();
    await page.getByRole('button', { name: /^Pay/ }).click();
    await says('silver', '/billing', '£24 / month. Renews on');
  });

  await test.step('a renewal fails: both pages say amount, card and next attempt', async () => {
    await life.cardDeclinesFromNowOn();
    await life.periodEnds();
    await says('silver', '/', 'Your payment failed', '£24 from Visa ending in 0341. The next attempt is on');
    await says('silver', '/billing', 'Payment due', '£24 from Visa ending in 0341. The next attempt is on');
  });

  await test.step('a new card in the portal pays what is open', async () => {
    await page.getByRole('button', { name: 'Payment and invoices' }).click();
    await page.getByRole('button', { name: 'Change card' }).click();
    await expect(page.getByText('ends in 4242').first()).toBeVisible();
    await says('silver', '/billing', '£24 / month. Renews on');
    await expect(page.getByText('Your last payment didn’t go through.')).toBeHidden();
  });

  await test.step('Gold is chosen, and charged at once', async () => {
    await page.getByRole('link', { name: 'Switch to Gold' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Change to Gold' }).click();
    await says('gold', '/billing', '£79 / month. Renews on');
    await life.periodEnds();
    await says('gold', '/billing', '£79 / month. Renews on');
  });

  await test.step('a dispute takes the plan, and gives it back when it is won', async () => {
    const [newest] = await life.invoices();
    const { id } = await life.actsOnInvoice(newest?.id ?? '', 'dispute');
    await says('free', '/billing', 'Payment disputed', 'A payment for your paid plan is disputed at the bank.');
    await expect(page.getByText('Available once the dispute is settled').first()).toBeVisible();
    await expect(page.locator('li[aria-current]')).toContainText('£0');
    await says('free', '/', 'A payment is disputed');
    await life.disputeEnds(id, 'won');
    await says('gold', '/billing', 'Active', '£79 / month. Renews on');
  });

  await test.step('a refund changes no plan', async () => {
    // A charge that was disputed can no longer be refunded.
    await life.periodEnds();
    await says('gold', '/billing', '£79 / month. Renews on');
    const [newest] = await life.invoices();
    await life.actsOnInvoice(newest?.id ?? '', 'refund', { amount: 900 });
    await says('gold', '/billing', '£79 / month. Renews on');
  });

  await test.step('a debt that is written off gives no plan until it is paid', async () => {
    await life.cardDeclinesFromNowOn();
    await life.periodEnds();
    await says('gold', '/billing', 'Payment due');
    const [debt] = await life.invoices();
    await life.actsOnInvoice(debt?.id ?? '', 'uncollectible');
    expect((await life.subscription()).status).toBe('active');
    await says('free', '/', 'Your payment failed');
    await says('free', '/billing?ask=cancel', 'Your paid plan ends now. Then you move to Free.');
    await says('free', '/billing', 'Unpaid', 'Your paid plan is off until its invoice is paid.');
    const payNow = page.getByRole('button', { name: 'Pay now' });
    await expect(page.locator('form', { has: payNow }).locator('input[name="tier"]')).toHaveValue('gold');
    await payNow.click();
    await page.getByRole('button', { name: /^Pay £79/ }).click();
    await says('gold', '/billing', '£79 / month. Renews on');
  });

  await test.step('a planned change is shown, and given up by keeping Gold', async () => {
    await page.getByRole('button', { name: 'Payment and invoices' }).click();
    await page.getByRole('button', { name: 'Change card' }).click();
    await life.schedules('silver');
    await says('gold', '/billing', /Gold until \d+ \w+ \d{4}, then Silver\./);
    await expect(page.getByText(/^From \d+ \w+ \d{4}$/)).toBeVisible();
    await page.getByRole('button', { name: 'Keep Gold' }).click();
    await says('gold', '/billing', '£79 / month. Renews on');
    expect((await life.subscription()).schedule).toBeNull();
  });

  await test.step('Gold is cancelled, resumed and cancelled again, and ends', async () => {
    for (const keeps of [true, false]) {
      await page.getByRole('link', { name: 'Cancel plan' }).click();
      await page.getByRole('button', { name: 'Cancel Gold' }).click();
      await says('gold', '/billing', /Ends on \d+ \w+ \d{4}, then Free/);
      if (!keeps) break;
      await page.getByRole('button', { name: 'Keep Gold' }).click();
      await says('gold', '/billing', '£79 / month. Renews on');
    }
    await life.periodEnds();
    await says('free', '/billing', 'Your paid plan has ended.');
    expect((await life.subscription()).status).toBe('canceled');
  });

  await test.step('provider and database are equal', async () => {
    const { code, stdout } = await service.operator('reconcile');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/ 0 repaired\.$/m) });
    expect(stdout).not.toMatch(/^repaired|not brought|several|unknown|gone/m);
  });
});
