import { endSession } from '../support/end-session.ts';
import { makeOwner, passPhrase, signIn } from '../support/people.ts';
import { send } from '../support/raw-request.ts';
import { expect, test } from '../support/service.ts';

test('pointing at links after the session has ended stores no page to return to, and a click does', async ({
  page,
  service,
}) => {
  const owner = await makeOwner(service, page.request);
  await signIn(page, owner);
  await page.goto('/');
  await endSession(page);
  for (const name of ['Members', 'Billing']) {
    const preload = page.waitForResponse(/__data\.json/);
    await page.getByRole('link', { name }).first().hover();
    await (await preload).finished();
  }
  expect((await page.context().cookies()).map(({ name }) => name)).not.toContain('return');

  await page.getByRole('link', { name: 'Billing' }).first().click();
  await expect(page).toHaveURL('/login');
  await expect(page.locator('#notice')).toContainText('You have been signed out.');
  await page.getByLabel('E-mail', { exact: true }).fill(owner);
  await page.getByLabel('Password', { exact: true }).fill(passPhrase);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page).toHaveURL('/billing');
});

test('a page that is loaded again leads to no other site', async ({ service }) => {
  for (const [wanted, location] of [
    ['/members?after=1', '/members?after=1'],
    ['//evil.example', '/'],
    ['/\\evil.example', '/'],
    ['/.//evil.example', '/'],
    ['https://evil.example/', '/'],
    ['javascript:alert(1)', '/'],
  ] as const) {
    const answer = await send(service, `/reload?${new URLSearchParams({ page: wanted })}`);
    expect([wanted, answer.status, answer.headers.location]).toEqual([wanted, 302, location]);
  }
});
