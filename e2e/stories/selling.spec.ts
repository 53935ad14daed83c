import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/browser/accessibility.ts';
import { scriptsRun } from '../support/browser/scripts-run.ts';
import { makeOwner, newEmail, signIn } from '../support/people.ts';
import { offerCode, registerForTax, subscriptionControls, turnSwitches } from '../support/provider.ts';
import { expect, test as onSharedService, type Service, startService } from '../support/service.ts';

/** A service that sells by the month and the year, in pounds and euros, with tax, codes and a trial of Silver. */
const test = onSharedService.extend<object, { service: Service }>({
  service: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the requested fixtures.
    async ({}, use) => {
      const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-plans-'));
      const service = await startService({
        environment: {
          PLANS_FILE: plansWithTrial(folder),
          // The sandbox's own prices have no tax behaviour; these are made by billing-setup.
          PAYMENT_PRICE_SILVER: 'taxed_silver_monthly',
          PAYMENT_PRICE_GOLD: 'taxed_gold_monthly',
          PAYMENT_TAX: 'automatic',
          PAYMENT_CODES: 'true',
          LOCALES: 'en,de,fr',
        },
      });
      expect(await service.operator('billing-setup')).toMatchObject({ code: 0, stderr: '' });
      await registerForTax(service, 'GB');
      await offerCode(service, 'SPRING', 25);
      await use(service);
      await service.stop();
      fs.rmSync(folder, { recursive: true });
    },
    { scope: 'worker', timeout: 300_000 },
  ],
});

test('a trial, a year with a code and VAT, Gold at once, Silver later, kept, refunded, and cancelled', async ({
  browser,
  page,
  request,
  service,
}) => {
  test.setTimeout(300_000);
  const organisation = 'Larch & Elder';
  await signIn(page, await makeOwner(service, request, { organisation, email: newEmail('owner', 'larch.example') }));
  const life = await subscriptionControls(service, page.request);
  const says = (...sentences: (string | RegExp)[]) => billingSays(page, life.everythingDelivered, sentences);

  await test.step('the plans say what a year saves, the free days and the tax', async () => {
    await page.goto('/billing');
    await scriptsRun(page);
    await page.getByRole('link', { name: 'Yearly' }).click();
    await expect(planCard(page, 'Silver')).toContainText(/£240.*\/ year.*Saves £48 a year.*First 14 days free/s);
    await expect(planCard(page, 'Gold')).not.toContainText('days free');
    await expect(page.getByText('Prices are plus VAT.')).toBeVisible();
  });

  await test.step('a trial of a year begins with a code, without a card', async () => {
    await page.getByRole('button', { name: 'Choose Silver' }).click();
    await page.getByLabel('Country').fill('GB');
    await page.getByLabel('Promotion code').fill('spring');
    await page.getByRole('button', { name: 'Apply' }).click();
    await expect(page.getByText('−£60.00')).toBeVisible();
    await page.getByLabel('Country').fill('GB');
    await page.getByRole('button', { name: 'Start without a card' }).click();
    await expect(page.getByText('You are on Silver. Your trial has started.')).toBeVisible();
    await says(
      'On trial',
      /£240 \/ year\. 25% off until \d+ \w+ \d{4}\. Free until .* Add a card by then to keep Silver/,
    );
  });

  await test.step('home says when the trial ends and leads to a card', async () => {
    await page.goto('/');
    await expect(page.getByText(/^Silver, free until \d+ \w+ \d{4}\. Just you so far\.$/)).toBeVisible();
    await expect(page.getByRole('heading', { name: /^Your trial ends on \d+ \w+ \d{4}$/ })).toBeVisible();
    await expect(page.getByText('Add a card by then to keep Silver; without one it pauses.')).toBeVisible();
    await expectAccessible(page, 'home on trial');
    await page.getByRole('link', { name: 'Add a card' }).click();
  });

  await test.step('a card is added, and the year is paid with the code and VAT when the trial ends', async () => {
    await page.getByRole('button', { name: 'Add a card' }).click();
    await page.getByRole('button', { name: 'Save card' }).click();
    await expect(page.getByText('ends in 4242').first()).toBeVisible();
    await says(/Free until \d+ \w+ \d{4}, then paid from Visa ending in 4242\./);
    await expect(page.getByRole('button', { name: 'Add a card' })).toBeHidden();
    await page.goto('/');
    await expect(
      page.getByText(/^Silver, free until \d+ \w+ \d{4}, then £240 \/ year from Visa ending in 4242\. 25% off until/),
    ).toBeVisible();
    await expect(page.getByRole('link', { name: 'Add a card' })).toBeHidden();
    await life.periodEnds();
    await says('Active', /£240 \/ year\. 25% off until .* Renews on/);
    await expect(page.getByRole('region', { name: 'Invoices' })).toContainText('£216');
  });

  await test.step('Gold begins at once, by the year, and what that charges is said before', async () => {
    await page.getByRole('link', { name: 'Switch to Gold' }).click();
    const asked = page.getByRole('dialog', { name: 'Switch to Gold?' });
    await expect(asked).toContainText(
      /You pay about £[\d.]+ including VAT now, then £790 a year plus VAT from \d+ \w+ \d{4}\./,
    );
    await expect(asked).toContainText('This is an estimate');
    const [, said] = /about £([\d.]+)/.exec((await asked.textContent()) ?? '') ?? [];
    await asked.getByRole('link', { name: 'Keep Silver' }).click();
    await expect(asked).toBeHidden();
    await page.getByRole('link', { name: 'Switch to Gold' }).click();
    await asked.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Change to Gold' }).click();
    await says(/£790 \/ year\. 25% off until .* Renews on/);
    const [charge] = await life.invoices();
    // Some seconds of a year later.
    expect(Math.abs((charge?.amount_due ?? 0) - 100 * Number(said))).toBeLessThan(5);
  });

  await test.step('Silver waits for the end of the year, and is given up by keeping Gold', async () => {
    await page.getByRole('link', { name: 'Switch to Silver' }).click();
    await expect(page.getByRole('dialog')).toContainText(
      /Nothing is charged now\. Gold until \d+ \w+ \d{4}, then Silver for £240 a year plus VAT\./,
    );
    await page.getByRole('button', { name: 'Continue' }).click();
    await expect(page.getByText('Nothing is charged now.')).toBeVisible();
    await page.getByRole('button', { name: 'Change to Silver' }).click();
    await says(/Gold until \d+ \w+ \d{4}, then Silver\./);
    await page.getByRole('button', { name: 'Keep Gold' }).click();
    await says(/£790 \/ year\. .*Renews on/);
    expect((await life.subscription()).schedule).toBeNull();
  });

  await test.step('Gold by the month waits too, and is told by its interval', async () => {
    await page.goto('/billing?interval=month');
    await page.getByRole('link', { name: 'Switch to Gold, monthly' }).click();
    await expect(page.getByRole('dialog', { name: 'Switch to Gold, monthly?' })).toContainText(
      /Gold yearly until \d+ \w+ \d{4}, then Gold monthly for £79 a month plus VAT\./,
    );
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Change to Gold' }).click();
    await says(/Gold yearly until \d+ \w+ \d{4}, then Gold monthly\./);
    await page.goto('/');
    await expect(page.getByText(/Gold yearly until \d+ \w+ \d{4}, then Gold monthly\./)).toBeVisible();
    await page.goto('/billing');
    await page.getByRole('button', { name: 'Keep Gold' }).click();
    await says(/£790 \/ year\. .*Renews on/);
  });

  await test.step('a refund is noted for the operator, and changes no plan', async () => {
    const [newest] = await life.invoices();
    await life.actsOnInvoice(newest?.id ?? '', 'refund', { amount: 900 });
    await says(/£790 \/ year\. .*Renews on/);
    const operator = await browser.newPage({ baseURL: service.baseUrl });
    await signIn(operator, await makeOwner(service, request, { operator: true, organisation: 'Front desk' }));
    await operator.goto(`/operator/events?search=${encodeURIComponent(organisation)}`);
    await expect(operator.getByRole('row', { name: 'Refund made' }).filter({ hasText: organisation })).toBeVisible();
    await operator.close();
  });

  await test.step('Gold is cancelled, and ends with the year', async () => {
    await page.getByRole('link', { name: 'Cancel plan' }).click();
    await page.getByRole('button', { name: 'Cancel Gold' }).click();
    await says(/Ends on \d+ \w+ \d{4}, then Free/);
    await life.periodEnds();
    await says('Your paid plan has ended.');
    expect(await life.subscriptions()).toMatchObject([{ status: 'canceled' }]);
  });
});

test('a trial that ended without a card leads to one, which starts the plan', async ({ page, request, service }) => {
  test.setTimeout(120_000);
  await signIn(page, await makeOwner(service, request, { email: newEmail('owner', 'rowan.example') }));
  const life = await subscriptionControls(service, page.request);
  await page.goto('/billing');
  await scriptsRun(page);
  await page.getByRole('button', { name: 'Choose Silver' }).click();
  await page.getByLabel('Country').fill('GB');
  await page.getByRole('button', { name: 'Start without a card' }).click();
  await expect(page.getByText('Your trial has started.')).toBeVisible();
  await life.everythingDelivered();
  await life.periodEnds();
  await billingSays(page, life.everythingDelivered, ['Your trial has ended. Add a card to start your paid plan.']);
  await expectAccessible(page, 'billing after a trial');

  await page.goto('/');
  await expect(page.getByRole('heading', { name: 'Your trial has ended' })).toBeVisible();
  await page.getByRole('link', { name: 'Add a card' }).click();
  await page.getByRole('button', { name: 'Add a card' }).click();
  await page.getByRole('button', { name: 'Save card' }).click();
  await billingSays(page, life.everythingDelivered, ['Active', /£24 \/ month\. Renews on/]);
});

test('an administrator chooses the currency, which the first plan fixes', async ({ page, request, service }) => {
  test.setTimeout(120_000);
  await signIn(page, await makeOwner(service, request, { email: newEmail('owner', 'birch.example') }));
  const life = await subscriptionControls(service, page.request);
  await page.goto('/billing');
  await scriptsRun(page);
  await page.getByLabel('Currency').selectOption('EUR');
  await page.getByRole('button', { name: 'Change currency' }).click();
  await expect(planCard(page, 'Gold')).toContainText('€92');

  await page.getByRole('button', { name: 'Choose Gold' }).click();
  await page.getByLabel('Country').fill('DE');
  await page.getByRole('button', { name: /^Pay €92/ }).click();
  await billingSays(page, life.everythingDelivered, ['€92 / month. Renews on']);
  await expect(page.getByLabel('Currency')).toBeHidden();
  await page.goto('/billing?interval=year');
  await expect(planCard(page, 'Silver')).toContainText('€280');
});

for (const javaScriptEnabled of [true, false]) {
  test.describe(`${javaScriptEnabled ? 'with' : 'without'} JavaScript`, () => {
    test.use({ javaScriptEnabled });

    test('what a change charges is said before it, and a silent provider breaks nothing', async ({
      page,
      request,
      service,
    }) => {
      test.setTimeout(120_000);
      const domain = javaScriptEnabled ? 'rowan.example' : 'hazel.example';
      await signIn(page, await makeOwner(service, request, { email: newEmail('owner', domain) }));
      const life = await subscriptionControls(service, page.request);
      await page.goto('/billing');
      await page.getByRole('button', { name: 'Choose Gold' }).click();
      await page.getByLabel('Country').fill('FR');
      await page.getByRole('button', { name: /^Pay £79/ }).click();
      await billingSays(page, life.everythingDelivered, ['£79 / month. Renews on']);

      const change = '/billing?ask=change&tier=gold&interval=year';
      await page.goto('/billing?interval=year');
      await page.getByRole('link', { name: 'Switch to Gold, yearly' }).click();
      await expect(page).toHaveURL(change);
      await expect(page.getByRole('dialog')).toContainText(
        /You pay about £7\d\d[\d.]* including VAT now, then £790 a year/,
      );

      await turnSwitches(service, { api_failure: 'hang', api_failure_only: 'POST /v1/invoices/create_preview' });
      try {
        await page.goto(change);
        const asked = page.getByRole('dialog', { name: 'Switch to Gold, yearly?' });
        await expect(asked).toContainText('The payment provider’s page shows what is charged before you confirm.');
        await expect(asked).not.toContainText('£');
      } finally {
        await turnSwitches(service, null);
      }
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByRole('button', { name: 'Change to Gold' }).click();
      await billingSays(page, life.everythingDelivered, ['£790 / year. Renews on']);
      // What is the plan already is not asked for.
      await page.goto(change);
      await expect(page.getByRole('dialog')).toBeHidden();
    });
  });
}

/** Expects sentences on /billing, once the service knows the provider's state. */
async function billingSays(
  page: Page,
  everythingDelivered: () => Promise<void>,
  sentences: (string | RegExp)[],
): Promise<void> {
  await everythingDelivered();
  await expect(async () => {
    await page.goto('/billing');
    for (const sentence of sentences) await expect(page.getByText(sentence).first()).toBeVisible({ timeout: 500 });
  }).toPass({ timeout: 60_000 });
}

function planCard(page: Page, name: string) {
  const plans = page.getByRole('region', { name: 'Plans' }).getByRole('listitem');
  return plans.filter({ has: page.getByRole('heading', { name, exact: true }) });
}

/** Writes examples/plans.json with 14 free days of Silver without a card. Returns the file's path. */
function plansWithTrial(folder: string): string {
  const example = fileURLToPath(new URL('../../examples/plans.json', import.meta.url));
  const plans = JSON.parse(fs.readFileSync(example, 'utf8')) as { tiers: { tier: string; trial?: object }[] };
  for (const tier of plans.tiers) if (tier.tier === 'silver') tier.trial = { days: 14, card: false };
  const file = path.join(folder, 'plans.json');
  fs.writeFileSync(file, JSON.stringify(plans));
  return file;
}
