import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { linkFor, makeOwner, newEmail, passPhrase, signIn } from './people.ts';
import { expect, test } from './service.ts';

async function expectNoFindings(page: Page, path: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.goto(path);
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(
      violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]),
      `${path}, ${colorScheme}`,
    ).toEqual([]);
  }
}

async function expectNoWiderThanAPhone(page: Page, path: string): Promise<void> {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(path);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width, `${path} on a phone`).toBeLessThanOrEqual(390);
  await page.setViewportSize({ width: 1280, height: 800 });
}

test('axe finds nothing on the pages before sign-in, and none is wider than a phone', async ({
  page,
  request,
  service,
}) => {
  test.setTimeout(120_000);
  const email = newEmail();
  await request.post('/api/signup', { data: { email, password: passPhrase } });
  const used = await linkFor(service, email);
  await request.get(used);
  const paths = [
    '/login',
    '/login?error=idp',
    '/signup',
    '/awaiting-approval',
    '/verify?token=x',
    '/password?token=x',
    used,
    '/nothing-here',
  ];
  for (const path of paths) {
    await expectNoFindings(page, path);
    await expectNoWiderThanAPhone(page, path);
  }
});

test('axe finds nothing on the pages after sign-in, and none is wider than a phone', async ({
  page,
  request,
  service,
}) => {
  test.setTimeout(120_000);
  await makeOwner(service, request, { approved: false, organisation: 'Waiting for a decision with a long name' });
  const email = await makeOwner(service, request, { operator: true, organisation: 'Front desk' });
  await signIn(page, email);
  const paths = [
    '/',
    '/onboarding',
    '/billing',
    '/billing?checkout=cancel',
    '/account',
    '/members',
    '/operator',
    '/operator/people?search=company',
    '/account/delete',
  ];
  for (const path of paths) {
    await expectNoFindings(page, path);
    await expectNoWiderThanAPhone(page, path);
  }
});

test('axe finds nothing on the operators’ pages about payment events, and none is wider than a phone', async ({
  page,
  request,
  service,
}) => {
  test.setTimeout(120_000);
  await signIn(page, await makeOwner(service, request, { operator: true, organisation: 'Payments desk' }));
  await expectNoFindings(page, '/operator/events?search=nothing-of-this-sort');
  const { url } = await (await page.request.post('/api/billing/checkout', { data: { tier: 'silver' } })).json();
  await page.goto(url);
  await page.getByRole('button', { name: /^Pay/ }).click();
  await expect(page.getByText('You are on Silver')).toBeVisible({ timeout: 20_000 });

  await page.goto('/operator/events?search=Payments desk');
  const row = page.getByRole('row').filter({ hasText: 'customer.subscription.created' });
  const links = await row.getByRole('link').evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
  expect(links).toHaveLength(2);
  for (const path of ['/operator/events', '/operator/events/drift', ...links]) {
    await expectNoFindings(page, path);
    await expectNoWiderThanAPhone(page, path);
  }
});

test('axe finds nothing while somebody waits for approval', async ({ page, request, service }) => {
  await signIn(page, await makeOwner(service, request, { approved: false }));
  await expectNoFindings(page, '/awaiting-approval');
  await expectNoWiderThanAPhone(page, '/awaiting-approval');
});
