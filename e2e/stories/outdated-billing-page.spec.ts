import type { Page } from '@playwright/test';
import { inviteOn, makeOwner, signIn } from '../support/people.ts';
import { expect, type Service, test } from '../support/service.ts';

const wrongOrganisation = 'You switched organisation in another tab. Reload the page.';

type Shown = { shown: string; current: string };

/** Opens the billing page of Quayside for its owner, who also has a role in Larch & Sons. */
async function openBilling(page: Page, other: Page, service: Service, role: 'Admin' | 'Viewer'): Promise<Shown> {
  const { request } = page.context();
  await signIn(other, await makeOwner(service, request, { organisation: 'Larch & Sons' }));
  const invitation = await inviteOn(other, role);
  await signIn(page, await makeOwner(service, request, { organisation: 'Quayside' }));
  const shown = (await (await request.get('/api/session')).json()).organisation.id;
  await page.goto(invitation);
  await page.getByRole('button', { name: 'Join Larch & Sons' }).click();
  await expect(page).toHaveURL('/');
  const current = (await (await request.get('/api/session')).json()).organisation.id;
  expect(current).not.toBe(shown);

  await switchTo(page, shown);
  await page.goto('/billing');
  await expect(page.getByRole('button', { name: 'Choose Silver' })).toBeVisible();
  return { shown, current };
}

/** Switches the organisation, as another tab of the same browser would. */
async function switchTo(page: Page, organisation_id: string): Promise<void> {
  const answer = await page.context().request.post('/api/trpc/organisations.switch', { data: { organisation_id } });
  expect(answer.status()).toBe(200);
}

for (const javaScriptEnabled of [true, false]) {
  test(`a billing page of an organisation that is no longer the current one changes nothing, ${javaScriptEnabled ? 'with' : 'without'} JavaScript`, async ({
    browser,
    service,
  }) => {
    const context = await browser.newContext({ baseURL: service.baseUrl, javaScriptEnabled });
    const elsewhere = await browser.newContext({ baseURL: service.baseUrl });
    const page = await context.newPage();
    const { shown, current } = await openBilling(page, await elsewhere.newPage(), service, 'Viewer');

    await switchTo(page, current);
    await page.getByRole('button', { name: 'Choose Silver' }).click();
    const notice = page.locator('#notice');
    await expect(notice).toContainText('You switched organisation in another tab. Nothing was changed.');
    await expect(page.getByRole('alert')).toHaveCount(0);
    await notice.getByRole('link', { name: 'Reload the page' }).click();
    await expect(page).toHaveURL('/billing');
    await expect(page.getByRole('banner')).toContainText('Larch & Sons');
    await expect(notice).toHaveCount(0);

    await switchTo(page, shown);
    await page.goto('/');
    await switchTo(page, current);
    await page.getByRole('button', { name: 'Hide the next steps' }).click();
    await expect(notice).toContainText('You switched organisation in another tab. Nothing was changed.');

    await switchTo(page, shown);
    await page.goto('/billing');
    await page.getByRole('button', { name: 'Choose Silver' }).click();
    await page.waitForURL(`${service.sandboxUrl}/pay/checkout/**`);
    await context.close();
    await elsewhere.close();
  });
}

test('the JSON endpoints accept the organisation, and work without it', async ({ page, browser, service }) => {
  const elsewhere = await browser.newContext({ baseURL: service.baseUrl });
  const { shown, current } = await openBilling(page, await elsewhere.newPage(), service, 'Admin');
  for (const action of ['checkout', 'portal', 'cancel', 'resume']) {
    const refused = await page.request.post(`/api/billing/${action}`, {
      data: { tier: 'silver', organisation_id: current },
    });
    expect(refused.status()).toBe(404);
    expect(await refused.json()).toEqual({ error: wrongOrganisation, code: 'NOT_FOUND' });
  }
  expect((await page.request.post('/api/billing/portal')).status()).toBe(200);
  const named = { data: { tier: 'silver', organisation_id: shown } };
  expect((await page.request.post('/api/billing/checkout', named)).status()).toBe(200);
  const none = await page.request.post('/api/billing/cancel');
  expect(await none.json()).toMatchObject({ error: 'There is no paid plan.' });
  await elsewhere.close();
});
