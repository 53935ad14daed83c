import type { APIRequestContext, Page } from '@playwright/test';
import { makeOwner, signIn } from '../support/people.ts';
import { type PaidLife, paidLifeOf, turnSwitches } from '../support/provider.ts';
import { expect, type Service, test } from '../support/service.ts';

type Weather = {
  name: string;
  switches: Record<string, unknown>;
  /** What it takes until the service has heard of what happened at the provider. */
  passes: (service: Service, life: PaidLife) => Promise<void>;
};

const weathers: Weather[] = [
  { name: 'with every delivery on time', switches: {}, passes: (_, life) => life.everythingDelivered() },
  {
    name: 'with every delivery late, twice and in no order',
    switches: {
      duplicate_deliveries: true,
      duplicate_events: true,
      reorder_deliveries: true,
      delivery_delay_ms: 400,
    },
    passes: (_, life) => life.everythingDelivered(),
  },
  { name: 'with no delivery at all', switches: { drop_deliveries: true }, passes: (service) => reconcile(service) },
];

async function reconcile(service: Service): Promise<void> {
  const { code, stdout, stderr } = await service.operator('reconcile');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^\d+ subscriptions? compared, \d+ repaired\./);
}

for (const weather of weathers) {
  test(`a paid plan from its beginning to its end, ${weather.name}`, async ({ page, request, service }) => {
    await signIn(page, await makeOwner(service, request, { organisation: 'Larch & Sons' }));
    await turnSwitches(service, weather.switches);
    try {
      await runLife(page, service, weather);
    } finally {
      await turnSwitches(service, null);
    }
  });
}

async function runLife(page: Page, service: Service, weather: Weather): Promise<void> {
  const life = await paidLifeOf(service, page.request);

  /** The page says so now, and still does once all has been told. */
  async function billingSays(...sentences: (string | RegExp)[]): Promise<void> {
    await weather.passes(service, life);
    await expect(async () => {
      await page.goto('/billing');
      for (const sentence of sentences) await expect(page.getByText(sentence).first()).toBeVisible({ timeout: 500 });
    }).toPass({ timeout: 10_000 });
  }

  await test.step('Free to Silver', async () => {
    await page.goto('/billing');
    await page.getByRole('button', { name: 'Choose Silver' }).click();
    await page.waitForURL(`${service.sandboxUrl}/pay/checkout/**`);
    await page.getByLabel(/4242 4242/).check();
    await page.getByRole('button', { name: /^Pay/ }).click();
    await expect(page.getByText('You are on Silver')).toBeVisible({ timeout: 20_000 });
    await billingSays(/Renews on \d+ \w+ \d{4}/);
    await expect(plan(page)).resolves.toMatchObject({ tier: 'silver', status: 'active' });
  });

  await test.step('Silver to Gold in place: one subscription, one bill', async () => {
    await page.getByRole('button', { name: 'Switch to Gold' }).click();
    await page.waitForURL(`${service.sandboxUrl}/pay/portal/**`);
    await page.getByRole('button', { name: 'Change to Gold' }).click();
    await billingSays('£79 a month. Renews on');
    await expect(plan(page)).resolves.toMatchObject({ tier: 'gold', status: 'active' });
    expect(await life.subscriptions()).toHaveLength(1);
  });

  await test.step('cancelled in our page, and resumed there', async () => {
    await page.getByRole('link', { name: 'Cancel plan' }).click();
    await page.getByRole('button', { name: 'Cancel Gold' }).click();
    await expect(page.getByText(/Ends on \d+ \w+ \d{4}, then Free/)).toBeVisible();
    expect(await life.subscription()).toMatchObject({ cancel_at_period_end: true });
    await page.getByRole('button', { name: 'Keep Gold' }).click();
    await expect(page.getByText(/Renews on/)).toBeVisible();
    await billingSays(/Renews on/);
    expect(await life.subscription()).toMatchObject({ cancel_at_period_end: false, cancel_at: null });
  });

  await test.step('cancelled in the portal, where the end is a moment, and resumed in our page', async () => {
    await page.getByRole('button', { name: 'Payment and invoices' }).click();
    await page.waitForURL(`${service.sandboxUrl}/pay/portal/**`);
    await page.getByRole('button', { name: 'Cancel Gold' }).click();
    await expect(page.getByText(/Ends on/)).toBeVisible();
    expect(await life.subscription()).toMatchObject({ cancel_at_period_end: false, cancel_at: expect.any(Number) });
    await billingSays(/Ends on \d+ \w+ \d{4}, then Free/);
    await expect(plan(page)).resolves.toMatchObject({ tier: 'gold', cancel_at_period_end: true });
    await page.getByRole('button', { name: 'Keep Gold' }).click();
    await expect(page.getByText(/Renews on/)).toBeVisible();
    await billingSays(/Renews on/);
    expect(await life.subscription()).toMatchObject({ cancel_at_period_end: false, cancel_at: null });
  });

  await test.step('the renewal is declined: past due, with grace and a way to pay', async () => {
    await life.cardDeclinesFromNowOn();
    await life.periodEnds();
    await billingSays('Payment due', 'Your last payment did not go through.', /Gold stays on until \d+ \w+ \d{4}/);
    await expect(plan(page)).resolves.toMatchObject({ tier: 'gold', status: 'past_due' });
    const payNow = page.getByRole('link', { name: 'Pay now' });
    expect(await payNow.getAttribute('href')).toMatch(`${service.sandboxUrl}/pay/invoice/`);
  });

  await test.step('dunning ends: Free again', async () => {
    await life.dunningEnds();
    await billingSays('Free of charge.');
    await expect(plan(page)).resolves.toMatchObject({ tier: 'free', status: 'canceled', ends_at: null });
    await expect(page.getByText('Your last payment did not go through.')).toBeHidden();
    await expect(page.getByRole('button', { name: 'Choose Silver' })).toBeVisible();
  });
}

async function plan(page: { request: APIRequestContext }): Promise<Record<string, unknown>> {
  return (await (await page.request.get('/api/subscription')).json()).plan;
}
