import type { APIRequestContext, Page } from '@playwright/test';
import { makeOwner, signIn } from '../support/people.ts';
import { type SubscriptionControls, subscriptionControls, turnSwitches } from '../support/provider.ts';
import { expect, type Service, test } from '../support/service.ts';

type Conditions = {
  name: string;
  switches: Record<string, unknown>;
  /** Waits until the service knows the state at the provider, by events or by a reconciliation. */
  synced: (service: Service, life: SubscriptionControls) => Promise<void>;
};

const allConditions: Conditions[] = [
  { name: 'with every delivery on time', switches: {}, synced: (_, life) => life.everythingDelivered() },
  {
    name: 'with every delivery delayed, duplicated and in random order',
    switches: {
      duplicate_deliveries: true,
      duplicate_events: true,
      reorder_deliveries: true,
      delivery_delay_ms: 400,
    },
    synced: (_, life) => life.everythingDelivered(),
  },
  { name: 'with no delivery at all', switches: { drop_deliveries: true }, synced: (service) => reconcile(service) },
];

async function reconcile(service: Service): Promise<void> {
  const { code, stdout, stderr } = await service.operator('reconcile');
  // Deliveries were dropped, so the command may say that it applied an event which the provider had not delivered.
  const others = stderr.split('\n').filter((line) => line !== '' && !line.includes('had not delivered all events'));
  expect({ code, others }).toEqual({ code: /^repaired: /m.test(stdout) ? 1 : 0, others: [] });
  expect(stdout).toMatch(/^\d+ subscriptions? compared, \d+ repaired\.$/m);
}

for (const conditions of allConditions) {
  test(`the plan follows the subscription from checkout to the end of dunning, ${conditions.name}`, async ({
    page,
    request,
    service,
  }) => {
    await signIn(page, await makeOwner(service, request, { organisation: 'Larch & Sons' }));
    await turnSwitches(service, conditions.switches);
    try {
      await runLife(page, service, conditions);
    } finally {
      await turnSwitches(service, null);
    }
  });
}

async function runLife(page: Page, service: Service, conditions: Conditions): Promise<void> {
  const life = await subscriptionControls(service, page.request);

  /** Expects the sentences on the page once the service knows the provider's state. */
  async function billingSays(...sentences: (string | RegExp)[]): Promise<void> {
    await conditions.synced(service, life);
    await expect(async () => {
      await page.goto('/billing');
      for (const sentence of sentences) await expect(page.getByText(sentence).first()).toBeVisible({ timeout: 500 });
    }).toPass({ timeout: 60_000 });
  }

  /**
   * Expects a sentence on the page that answers an action. An event that was delivered late decides the
   * row until the sync after it, so with reordered deliveries the page may have to be loaded again.
   */
  async function billingSaysAtOnce(sentence: RegExp): Promise<void> {
    if (conditions.switches.reorder_deliveries) return billingSays(sentence);
    await expect(page.getByText(sentence)).toBeVisible();
  }

  await test.step('Silver is bought', async () => {
    await page.goto('/billing');
    await page.getByRole('button', { name: 'Choose Silver' }).click();
    await page.waitForURL(`${service.sandboxUrl}/pay/checkout/**`);
    await page.getByLabel(/4242 4242/).check();
    await page.getByRole('button', { name: /^Pay/ }).click();
    await expect(page.getByText('You are on Silver')).toBeVisible();
    await billingSays(/Renews on \d+ \w+ \d{4}/);
    await expect(plan(page)).resolves.toMatchObject({ tier: 'silver', status: 'active' });
  });

  await test.step('Silver changes to Gold in the same subscription', async () => {
    await page.getByRole('link', { name: 'Switch to Gold' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL(`${service.sandboxUrl}/pay/portal/**`);
    await page.getByRole('button', { name: 'Change to Gold' }).click();
    await billingSays('£79 / month. Renews on');
    await expect(plan(page)).resolves.toMatchObject({ tier: 'gold', status: 'active' });
    expect(await life.subscriptions()).toHaveLength(1);
  });

  await test.step('Gold is cancelled and resumed on the billing page', async () => {
    await page.getByRole('link', { name: 'Cancel plan' }).click();
    await page.getByRole('button', { name: 'Cancel Gold' }).click();
    await billingSaysAtOnce(/Ends on \d+ \w+ \d{4}, then Free/);
    expect(await life.subscription()).toMatchObject({ cancel_at_period_end: true });
    await page.getByRole('button', { name: 'Keep Gold' }).click();
    await billingSaysAtOnce(/Renews on/);
    await billingSays(/Renews on/);
    expect(await life.subscription()).toMatchObject({ cancel_at_period_end: false, cancel_at: null });
  });

  await test.step('Gold is cancelled in the portal by a date, and resumed on the billing page', async () => {
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

  await test.step('a declined renewal keeps the plan for a grace period and links to the invoice', async () => {
    await life.cardDeclinesFromNowOn();
    await life.periodEnds();
    await billingSays('Payment due', 'Your last payment didn’t go through.', /Gold stays on until \d+ \w+ \d{4}/);
    await expect(plan(page)).resolves.toMatchObject({ tier: 'gold', status: 'past_due' });
    const payNow = page.getByRole('link', { name: 'Pay now' });
    expect(await payNow.getAttribute('href')).toMatch(`${service.sandboxUrl}/pay/invoice/`);
  });

  await test.step('the end of dunning leads back to Free', async () => {
    await life.dunningEnds();
    await billingSays('Free of charge.');
    await expect(plan(page)).resolves.toMatchObject({ tier: 'free', status: 'canceled', ends_at: null });
    await expect(page.getByText('Your last payment didn’t go through.')).toBeHidden();
    await expect(page.getByRole('button', { name: 'Choose Silver' })).toBeVisible();
  });
}

async function plan(page: { request: APIRequestContext }): Promise<Record<string, unknown>> {
  return (await (await page.request.get('/api/subscription')).json()).plan;
}
