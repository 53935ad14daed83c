import fs from 'node:fs';
import { expectNoLayoutShift } from '../support/browser/layout-shift.ts';
import { scriptsRun } from '../support/browser/scripts-run.ts';
import { makeOwner, passPhrase, sharedOperator, signIn } from '../support/people.ts';
import { expect, test } from '../support/service.ts';

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? 'with JavaScript' : 'without JavaScript', () => {
    test.use({ javaScriptEnabled });

    test('a user is suspended with a reason after a confirmation, and restored from the notice', async ({
      browser,
      page,
      request,
      service,
    }) => {
      const email = await makeOwner(service, request);
      await signIn(page, await sharedOperator(service, request));
      await page.goto(`/operator/people?search=${email}`);
      if (javaScriptEnabled) await scriptsRun(page);
      await page.getByRole('link', { name: email }).click();
      await page.getByRole('link', { name: `Suspend ${email}` }).click();
      const dialog = page.getByRole('dialog', { name: `Suspend ${email}?` });
      await dialog.getByRole('link', { name: 'Cancel' }).click();
      await expect(dialog).toBeHidden();
      if (javaScriptEnabled) await expect(page.getByRole('link', { name: `Suspend ${email}` })).toBeFocused();
      const signInAgain = () => request.post('/api/login', { data: { email, password: passPhrase } });
      expect((await signInAgain()).status()).toBe(200);

      await page.getByRole('link', { name: `Suspend ${email}` }).click();
      await dialog.getByLabel('Reason').fill('Sent spam.');
      await dialog.getByRole('button', { name: 'Suspend' }).click();
      const notice = page.getByRole('status').filter({ hasText: `${email} is suspended.` });
      await expect(notice).toContainText(`${email} is suspended.`);
      await expect(page.getByText('Reason: Sent spam.')).toBeVisible();
      const refused = await signInAgain();
      expect([refused.status(), (await refused.json()).error]).toEqual([403, 'This account is closed.']);
      const theirs = await browser.newPage({ baseURL: service.baseUrl, javaScriptEnabled });
      await theirs.goto('/login');
      await theirs.getByLabel('E-mail', { exact: true }).fill(email);
      await theirs.getByLabel('Password', { exact: true }).fill('not the pass phrase');
      await theirs.getByRole('button', { name: 'Sign in' }).click();
      await expect(theirs.getByRole('alert')).toContainText('E-mail or password is wrong.');
      await theirs.getByLabel('Password', { exact: true }).fill(passPhrase);
      await theirs.getByRole('button', { name: 'Sign in' }).click();
      await expect(theirs.getByRole('alert')).toContainText('This account is suspended.');
      await theirs.close();

      await notice.getByRole('button', { name: 'Restore' }).click();
      await expect(page.getByRole('status').getByText(`${email} is restored.`)).toBeVisible();
      expect((await signInAgain()).status()).toBe(200);
    });

    test('a person is signed out everywhere, exported and deleted at their request, and the audit log tells it', async ({
      page,
      request,
      service,
    }) => {
      const email = await makeOwner(service, request, { organisation: 'Leaving Ltd' });
      const signInAgain = () => request.post('/api/login', { data: { email, password: passPhrase } });
      expect((await signInAgain()).status()).toBe(200);
      await signIn(page, await sharedOperator(service, request));
      await page.goto(`/operator/people?search=${email}`);
      await page.getByRole('link', { name: email }).click();
      await page.getByRole('button', { name: `Sign out everywhere: ${email}` }).click();
      await expect(page.getByRole('status').getByText(`${email} is signed out everywhere.`)).toBeVisible();
      expect((await request.get('/api/session')).status()).toBe(401);

      const downloading = page.waitForEvent('download');
      await page.getByRole('link', { name: `Export data of ${email}` }).click();
      expect(fs.readFileSync(await (await downloading).path(), 'utf8')).toContain(email);
      await page.getByRole('region', { name: 'History' }).getByRole('link', { name: 'Audit log' }).click();
      await expect(page.getByRole('searchbox')).toHaveValue(email);
      await expect(page.getByRole('main').getByText('from 127.0.0.1').first()).toBeVisible();
      await expect(page.getByRole('main').getByRole('link', { name: email }).first()).toBeVisible();
      await page.getByRole('main').getByRole('link', { name: email }).first().click();

      await page.getByRole('link', { name: `Delete account of ${email}` }).click();
      const dialog = page.getByRole('dialog', { name: `Delete the account of ${email}?` });
      await dialog.getByLabel('Your password').fill('another pass phrase');
      await dialog.getByRole('button', { name: 'Delete account' }).click();
      await expect(dialog.getByRole('alert')).toBeVisible();
      await dialog.getByLabel('Your password').fill(passPhrase);
      await dialog.getByRole('button', { name: 'Delete account' }).click();
      await expect(page).toHaveURL('/operator/people');
      await expect(page.getByRole('status').getByText('The account is deleted.')).toBeVisible();
      expect((await signInAgain()).status()).toBe(401);
    });

    test('an organisation is found, suspended and restored', async ({ page, request, service }) => {
      const organisation = javaScriptEnabled ? 'Suspended Weir' : 'Suspended Lock';
      const email = await makeOwner(service, request, { organisation });
      await signIn(page, await sharedOperator(service, request));
      await page.goto(`/operator/organisations?search=${encodeURIComponent(organisation)}`);
      await page.getByRole('link', { name: organisation }).click();
      await page.getByRole('link', { name: 'Billing history' }).click();
      await page.getByRole('link', { name: 'Organisation page' }).click();
      await expect(page.getByText(email).first()).toBeVisible();
      await page.getByRole('link', { name: `Suspend ${organisation}` }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click();
      await expect(page.getByRole('status').getByText(`${organisation} is suspended.`)).toBeVisible();
      expect((await request.post('/api/login', { data: { email, password: passPhrase } })).status()).not.toBe(200);
      await page.getByRole('button', { name: `Restore ${organisation}` }).click();
      await expect(page.getByRole('button', { name: `Restore ${organisation}` })).toBeHidden();
      expect((await request.post('/api/login', { data: { email, password: passPhrase } })).status()).toBe(200);
    });

    test('what was agreed with a customer is stated, shown to them, and ended', async ({ page, request, service }) => {
      const organisation = javaScriptEnabled ? 'Agreed Weir' : 'Agreed Lock';
      const email = await makeOwner(service, request, { organisation });
      await request.post('/api/login', { data: { email, password: passPhrase } });
      const summary = async () => (await request.get('/api/subscription')).json();
      await signIn(page, await sharedOperator(service, request));
      await page.goto(`/operator/organisations?search=${encodeURIComponent(organisation)}`);
      await page.getByRole('link', { name: organisation }).click();
      await page.getByRole('link', { name: 'Agree on something' }).click();
      const dialog = page.getByRole('dialog', { name: `What was agreed with ${organisation}?` });
      await dialog.getByLabel('Plan').selectOption('Gold');
      await dialog.getByLabel('Projects: limit').fill('many');
      await dialog.getByLabel('Reason').fill('By contract.');
      await dialog.getByLabel('Last day').fill('2099-01-31');
      await dialog.getByRole('button', { name: 'Save' }).click();
      const alert = dialog.getByRole('alert');
      await expect(alert).toContainText('Enter a whole number, or leave it empty.');
      if (javaScriptEnabled) await expect(alert).toBeFocused();
      await expect(alert.getByRole('link')).toHaveAttribute('href', '#limits.projects');
      await expect(dialog.getByLabel('Plan')).toHaveValue('gold');
      await dialog.getByLabel('Projects: limit').fill('none');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await expect(page.getByText('By contract.').first()).toBeVisible();
      expect((await summary()).plan).toMatchObject({
        tier: 'gold',
        status: 'none',
        ends_at: '2099-02-01T00:00:00.000Z',
      });

      const customer = await page.context().browser()?.newPage({ baseURL: service.baseUrl });
      if (customer === undefined) throw new Error('There is no browser.');
      await signIn(customer, email);
      await customer.goto('/billing');
      await expect(customer.getByText(/^Agreed with us until 31 January 2099: Gold/)).toBeVisible();
      await customer.close();

      await page.getByRole('button', { name: 'End it' }).click();
      await expect(page.getByText('Nothing was agreed beside the subscription.')).toBeVisible();
      expect((await summary()).plan).toMatchObject({ tier: 'free', ends_at: null });
    });
  });
}

test('lists are narrowed by status and plan', async ({ page, request, service }) => {
  const waiting = await makeOwner(service, request, { approved: false, organisation: 'Narrow Waiting' });
  const active = await makeOwner(service, request, { organisation: 'Narrow Active' });
  await signIn(page, await sharedOperator(service, request));
  await page.goto('/operator/people');
  await scriptsRun(page);
  await page.getByLabel('Status').selectOption('Awaiting approval');
  await expect(page).toHaveURL(/status=awaiting_approval/);
  await expect(page.getByRole('link', { name: waiting })).toBeVisible();
  await expect(page.getByRole('link', { name: active })).toHaveCount(0);

  await page.goto('/operator/organisations?search=Narrow');
  await scriptsRun(page);
  await page.getByLabel('Status').selectOption('Approved');
  await expect(page.getByRole('link', { name: 'Narrow Waiting' })).toHaveCount(0);
  await page.getByLabel('Plan').selectOption('Gold');
  await expect(page.getByRole('link', { name: 'Narrow Active' })).toHaveCount(0);
  await expect(page.getByRole('link', { name: 'Show all organisations' })).toBeVisible();
  await page.getByLabel('Plan').selectOption('Free');
  await expect(page.getByRole('link', { name: 'Narrow Active' })).toBeVisible();
});

test('operators download people and organisations as files in which no cell runs as a formula', async ({
  page,
  request,
  service,
}) => {
  const email = await makeOwner(service, request, { organisation: '=1+1' });
  await signIn(page, await sharedOperator(service, request));
  const organisations = await page.request.get('/operator/organisations.csv');
  expect(organisations.headers()).toMatchObject({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="organisations.csv"',
  });
  expect(await organisations.text()).toContain(`"'=1+1",${email},approved`);
  expect(await (await page.request.get('/operator/people.csv')).text()).toContain(email);

  await page.goto(`/operator/people?search=${encodeURIComponent(email)}&status=active`);
  const narrowed = await page.getByRole('link', { name: 'Download CSV' }).getAttribute('href');
  const lines = (await (await page.request.get(narrowed ?? '')).text()).trim().split('\r\n');
  expect(lines).toEqual([expect.stringContaining('email'), expect.stringContaining(email)]);
  expect(await (await page.request.get('/operator/organisations.csv?status=declined')).text()).not.toContain(email);

  await request.post('/api/login', { data: { email, password: passPhrase } });
  for (const path of ['people.csv', 'organisations.csv', 'people', 'organisations', 'decided', 'audit']) {
    expect((await request.get(`/operator/${path}`)).status(), path).toBe(403);
  }
});

test('the filters of a list stand still while a slow page arrives', async ({ page, request, service }) => {
  await signIn(page, await sharedOperator(service, request));
  await page.goto('/operator');
  const browser = await page.context().newCDPSession(page);
  await browser.send('Network.enable');
  const slow = { offline: false, latency: 0, downloadThroughput: 40_000, uploadThroughput: -1 };
  await browser.send('Network.emulateNetworkConditions', slow);
  for (const path of ['/operator/audit', '/operator/people']) {
    await page.goto(path);
    await expectNoLayoutShift(page, path);
  }
});
