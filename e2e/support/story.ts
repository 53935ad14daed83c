import type { Browser, Page } from '@playwright/test';
import { linkFor, newEmail, passPhrase, signIn } from './people.ts';
import { holdPaymentsBack } from './provider.ts';
import { expect, type Service, test } from './service.ts';

type Tier = { tier: string; price_source: string };

/**
 * Does everything that a first customer does, from sign-up to a sign-in through the identity
 * provider.
 */
export async function runStory(service: Service, { browser, page }: { browser: Browser; page: Page }): Promise<void> {
  const email = newEmail('owner');
  await page.addInitScript(recordNotifications);

  await test.step('sign up', async () => {
    await page.goto('/signup');
    await page.getByLabel('Organisation').fill('Larch & Sons');
    await page.getByLabel('E-mail', { exact: true }).fill(email);
    await page.getByLabel('Password', { exact: true }).fill(passPhrase);
    await page.getByRole('button', { name: /^Create (organisation|account)$/ }).click();
    await expect(page.getByRole('heading', { name: 'Check your e-mail' })).toBeVisible();
    await expect(page.getByText(email)).toBeVisible();
    await expect(page.getByText('We don’t e-mail you about it')).toBeVisible();
  });

  await test.step('the link in the mail opens the e-mail gate', async () => {
    await page.goto(await linkFor(service, email));
    await expect(page.locator('main')).toHaveAttribute('data-ok', 'true');
    await expect(page.locator('main')).toHaveAttribute('data-awaiting-approval', 'true');
    await expect(page.getByRole('heading', { name: 'E-mail confirmed' })).toBeVisible();
  });

  await test.step('sign in, and wait for approval', async () => {
    await page.getByLabel('Password', { exact: true }).fill(passPhrase);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page).toHaveURL('/awaiting-approval');
    await page.goto('/billing');
    await expect(page).toHaveURL('/awaiting-approval');
    await page.getByRole('button', { name: 'Notify me in this browser' }).click();
    await expect(page.getByText('This browser notifies you while the page is open.')).toBeVisible();
    await page.evaluate(() => Object.defineProperty(document, 'hidden', { get: () => true }));
  });

  await test.step('an operator approves, and the waiting page continues automatically', async () => {
    const operator = newEmail('operator');
    const theirs = await browser.newContext({ baseURL: service.baseUrl });
    const operatorPage = await theirs.newPage();
    await theirs.request.post('/api/signup', {
      data: { email: operator, password: passPhrase, org_name: 'Front desk' },
    });
    await theirs.request.get(await linkFor(service, operator));
    expect((await service.operator('grant', operator)).code).toBe(0);
    await signIn(operatorPage, operator);
    await operatorPage.goto('/');
    await operatorPage.getByRole('link', { name: 'Operator' }).click();
    await expect(operatorPage.getByText(email, { exact: true })).toBeVisible();
    await operatorPage
      .getByRole('row', { name: new RegExp(email) })
      .getByRole('button', { name: /^Approve/ })
      .click();
    await expect(operatorPage.getByText(email, { exact: true })).toBeHidden();
    await theirs.close();

    await expect(page).toHaveURL('/onboarding');
    await expect(page).toHaveTitle('Larch & Sons is approved – Gatehouse');
    await expect(page.locator('html')).toHaveAttribute('data-notified', 'Larch & Sons is approved');
  });

  await test.step('onboarding is shown once', async () => {
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    await expect(page).toHaveURL('/');
    await expect(page.getByRole('heading', { name: 'Larch & Sons' })).toBeVisible();
  });

  await test.step('the free plan, its limits and features, and the live prices of the others', async () => {
    await page.getByRole('link', { name: 'Billing' }).first().click();
    await expect(page.getByRole('heading', { name: 'Free', level: 2 })).toBeVisible();
    await expect(page.getByRole('progressbar').first()).toBeVisible();
    const cards = page.getByRole('region', { name: 'Plans' }).getByRole('listitem');
    for (const [name, price, features] of [
      ['Free', 'Free', ['No audit log']],
      ['Silver', '£24 / month', ['Audit log']],
      ['Gold', '£79 / month', ['Audit log']],
    ] as const) {
      const card = cards.filter({ has: page.getByRole('heading', { name, exact: true }) });
      await expect(card).toContainText(price);
      for (const feature of features) await expect(card.getByText(feature, { exact: true })).toBeVisible();
    }
    const { tiers } = await (await page.request.get('/api/subscription')).json();
    expect(Object.fromEntries(tiers.map((each: Tier) => [each.tier, each.price_source]))).toMatchObject({
      silver: 'provider',
      gold: 'provider',
    });
  });

  await test.step('a checkout of Silver, with a declined card and then a valid one', async () => {
    await page.getByRole('button', { name: 'Choose Silver' }).click();
    await page.waitForURL(`${service.sandboxUrl}/pay/checkout/**`);
    await page
      .getByLabel(/declines|0002/i)
      .first()
      .check();
    await page.getByRole('button', { name: /^Pay/ }).click();
    await expect(page.getByRole('alert')).toContainText(/declined/i);
    await page.getByLabel(/4242/).first().check();

    const release = await holdPaymentsBack(service);
    try {
      await page.getByRole('button', { name: /^Pay/ }).click();
      await page.waitForURL(`${service.baseUrl}/billing?**`);
      await expect(page.getByText('Confirming your payment')).toBeVisible();
      await expect(page.getByRole('heading', { name: 'Free', level: 2 })).toBeVisible();
      await expect(page.getByRole('button', { name: /^Choose/ })).toHaveCount(0);
    } finally {
      await release();
    }
    await expect(page.getByText('You are on Silver')).toBeVisible();
    await expect(page.getByRole('heading', { name: 'Silver Active', level: 2 })).toBeVisible();
  });

  await test.step('cancel on the billing page, and keep the plan', async () => {
    await page.getByRole('link', { name: 'Cancel plan' }).click();
    await expect(page.getByRole('dialog', { name: 'Cancel Silver?' })).toBeVisible();
    await page.getByRole('button', { name: 'Cancel Silver' }).click();
    await expect(page.getByText(/Ends on \d+ \w+ \d{4}, then Free/)).toBeVisible();
    await page.getByRole('button', { name: 'Keep Silver' }).click();
    await expect(page.getByText(/Renews on \d+ \w+ \d{4}/)).toBeVisible();
  });

  await test.step('to the portal and back', async () => {
    await page.getByRole('button', { name: 'Payment and invoices' }).click();
    await page.waitForURL(`${service.sandboxUrl}/pay/portal/**`);
    await page.getByRole('link', { name: 'Return' }).click();
    await expect(page).toHaveURL('/billing');
  });

  const { user: before } = await (await page.request.get('/api/session')).json();
  await test.step('sign out', async () => {
    await page.getByLabel('Your account').click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await expect(page).toHaveURL('/login');
    await page.goto('/billing');
    await expect(page).toHaveURL('/login');
  });

  await test.step('sign in through the identity provider: the same user', async () => {
    await page.getByRole('link', { name: /^Continue with/ }).click();
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Name').fill('A Person');
    await page.getByRole('button', { name: 'Create and continue' }).click();
    await expect(page).toHaveURL('/');
    const session = await (await page.request.get('/api/session')).json();
    expect(session).toMatchObject({
      user: { id: before.id, email, name: 'A Person' },
      organisation: { tier: 'silver' },
    });
    expect(before.id).toMatch(/^[0-9a-f-]{36}$/);
  });
}

/** Replaces the notifications of a browser, which a headless one never permits. */
function recordNotifications() {
  class Recorded {
    static permission = 'default';
    static async requestPermission() {
      Recorded.permission = 'granted';
      return Recorded.permission;
    }
    constructor(title: string) {
      document.documentElement.dataset.notified = title;
    }
  }
  window.Notification = Recorded as unknown as typeof Notification;
}
