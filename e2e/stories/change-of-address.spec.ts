import { linkFor, makeOwner, newEmail, passPhrase, signIn } from '../support/people.ts';
import { expect, test } from '../support/service.ts';
import { openSetting } from '../support/settings.ts';

test('an address is changed by the link in the mail to the new address', async ({ page, request, service }) => {
  const email = await makeOwner(service, request, { organisation: 'Moving House' });
  const taken = await makeOwner(service, request);
  const wanted = newEmail('moved');
  await signIn(page, email);
  await request.post('/api/login', { data: { email, password: passPhrase } });
  await page.goto('/account');
  await openSetting(page, 'E-mail');
  const password = page.locator('#address-password');

  await test.step('a wrong password is marked at its field, and the typed address is kept', async () => {
    await page.getByLabel('New address').fill(wanted);
    await password.fill('not the pass phrase');
    await page.getByRole('button', { name: 'Send the link' }).click();
    await expect(page.getByRole('alert').getByRole('link')).toHaveAttribute('href', '#address-password');
    await expect(page.getByLabel('New address')).toHaveValue(wanted);
  });

  await test.step('a taken address gets the same answer as a free one', async () => {
    const words = 'If that address is free, a link is on its way to it.';
    for (const each of [taken, wanted]) {
      await page.goto('/account');
      await openSetting(page, 'E-mail');
      await page.getByLabel('New address').fill(each);
      await password.fill(passPhrase);
      await page.getByRole('button', { name: 'Send the link' }).click();
      await expect(page.getByText(words)).toBeVisible();
    }
  });

  await test.step('opening the link changes the address and signs other browsers out', async () => {
    await page.goto(await linkFor(service, wanted));
    await expect(page.locator('main')).toHaveAttribute('data-ok', 'true');
    await expect(page.getByRole('heading', { name: 'Address changed' })).toBeVisible();
    await page.getByRole('link', { name: 'Continue' }).click();
    await expect(page).toHaveURL('/');
    expect((await request.get('/api/session')).status()).toBe(401);
    expect((await request.post('/api/login', { data: { email, password: passPhrase } })).status()).toBe(401);
    expect((await request.post('/api/login', { data: { email: wanted, password: passPhrase } })).status()).toBe(200);
  });
});

for (const javaScriptEnabled of [true, false]) {
  test.describe(`${javaScriptEnabled ? 'with' : 'without'} JavaScript`, () => {
    test.use({ javaScriptEnabled });

    test('a change that waits is shown, mailed again and cancelled', async ({ page, request, service }) => {
      await signIn(page, await makeOwner(service, request));
      const wanted = newEmail('waiting');
      await page.goto('/account');
      await openSetting(page, 'E-mail');
      await page.getByLabel('New address').fill(wanted);
      await page.locator('#address-password').fill(passPhrase);
      await page.getByRole('button', { name: 'Send the link' }).click();
      const waiting = page.getByText(`Waiting for the link sent to ${wanted} to be opened.`);
      await expect(waiting).toBeVisible();
      const link = await linkFor(service, wanted);

      await page.getByRole('button', { name: 'Send again' }).click();
      await expect(page.getByText('another link is on its way to it')).toBeVisible();
      await page.getByRole('button', { name: 'Cancel', exact: true }).click();
      await expect(page.getByText('Your address stays as it is.')).toBeVisible();
      await expect(waiting).toHaveCount(0);
      await page.goto(link);
      await expect(page.locator('main')).toHaveAttribute('data-ok', 'false');
    });
  });
}

test('in a browser without the session, the link names the account and asks for its password', async ({
  browser,
  page,
  request,
  service,
}) => {
  const email = await makeOwner(service, request, { organisation: 'Moved Twice' });
  const wanted = newEmail('moved');
  await signIn(page, email);
  await page.goto('/account');
  await openSetting(page, 'E-mail');
  await page.getByLabel('New address').fill(wanted);
  await page.locator('#address-password').fill(passPhrase);
  await page.getByRole('button', { name: 'Send the link' }).click();
  const link = await linkFor(service, wanted);

  const elsewhere = await browser.newContext({ baseURL: service.baseUrl, javaScriptEnabled: false });
  const theirs = await elsewhere.newPage();
  for (const [status, ok] of [
    [200, 'true'],
    [400, 'false'],
  ] as const) {
    expect((await theirs.goto(link))?.status()).toBe(status);
    await expect(theirs.locator('main')).toHaveAttribute('data-ok', ok);
    await expect(theirs.locator('main')).toContainText(wanted);
    await expect(theirs.locator('main')).toContainText(`The account that signs in with ${email} now, in Moved Twice.`);
    expect((await page.request.post('/api/login', { data: { email: wanted, password: passPhrase } })).status()).toBe(
      401,
    );
  }
  await theirs.getByLabel('Password of that account').fill('not the pass phrase');
  await theirs.getByRole('button', { name: 'Change my address' }).click();
  await expect(theirs.getByRole('alert')).toContainText('This password is wrong.');
  await theirs.getByLabel('Password of that account').fill(passPhrase);
  await theirs.getByRole('button', { name: 'Change my address' }).click();
  await expect(theirs).toHaveURL('/login');
  // The session that asked for the change has ended too.
  expect((await page.request.get('/api/session')).status()).toBe(401);
  expect((await page.request.post('/api/login', { data: { email: wanted, password: passPhrase } })).status()).toBe(200);
  await elsewhere.close();
});
