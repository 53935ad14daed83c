import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { inviteOn, linkFor, makeOwner, newEmail, passPhrase, signIn } from './people.ts';
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
    '/invitation?token=x',
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
  const { user } = await (await page.request.get('/api/session')).json();
  const paths = [
    '/',
    '/onboarding',
    '/billing',
    '/billing?checkout=cancel',
    '/account',
    '/members',
    '/operator',
    '/members?leave',
    '/operator/people?search=company',
    `/operator/people/${user.id}`,
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

test('axe finds nothing on the pages around an invitation, and none is wider than a phone', async ({
  browser,
  page,
  request,
  service,
}) => {
  test.setTimeout(120_000);
  const host = await makeOwner(service, request, { organisation: 'Host with quite a long name for a phone' });
  await signIn(page, host);
  const invitation = await inviteOn(page, 'Admin');
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations).toEqual([]);
  await expectNoFindings(page, '/members');
  await expectNoWiderThanAPhone(page, '/members');

  const theirs = await (await browser.newContext({ baseURL: service.baseUrl })).newPage();
  await expectNoFindings(theirs, invitation);
  await expectNoWiderThanAPhone(theirs, invitation);
  await theirs.goto(invitation);
  await theirs.getByRole('button', { name: 'Create an account' }).click();
  await theirs.waitForURL('/signup');
  for (const path of ['/signup', '/login']) await expectNoFindings(theirs, path);
  await signIn(theirs, await makeOwner(service, request, { organisation: 'A second organisation' }));
  await expect(theirs).toHaveURL('/invitation');
  await expectNoFindings(theirs, '/invitation');
  await expectNoWiderThanAPhone(theirs, '/invitation');
  await theirs.getByRole('button', { name: /^Join/ }).click();
  await theirs.getByRole('button', { name: 'Go on' }).click();
  await theirs.waitForURL('/');
  for (const path of ['/', '/members']) {
    await expectNoFindings(theirs, path);
    await expectNoWiderThanAPhone(theirs, path);
  }
  await page.goto('/members');
  const removal = await page.getByRole('link', { name: 'Remove' }).getAttribute('href');
  await expectNoFindings(page, removal ?? '');
  await expectNoWiderThanAPhone(page, removal ?? '');

  await theirs.goto('/');
  await theirs.getByRole('button', { name: /switch organisation/ }).click();
  await expect(theirs.getByRole('menuitemradio', { name: 'A second organisation' })).toBeVisible();
  expect((await new AxeBuilder({ page: theirs }).analyze()).violations).toEqual([]);
});

test('axe finds nothing while somebody waits for approval', async ({ page, request, service }) => {
  await signIn(page, await makeOwner(service, request, { approved: false }));
  await expectNoFindings(page, '/awaiting-approval');
  await expectNoWiderThanAPhone(page, '/awaiting-approval');
});
