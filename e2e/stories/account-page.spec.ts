import { makeOwner, passPhrase, sharedOperator, signIn } from '../support/people.ts';
import { expect, test } from '../support/service.ts';
import { openSetting } from '../support/settings.ts';

const other = 'quite another pass phrase';

test('a user changes the name and the password, downloads the data and deletes the account', async ({
  page,
  request,
  service,
}) => {
  const email = await makeOwner(service, request, { organisation: 'Short Stay Ltd' });
  await signIn(page, email);
  await page.goto('/account');

  await test.step('a changed name is saved', async () => {
    await openSetting(page, 'Name');
    await page.getByLabel('Your name').fill('Ada Larch');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('Your name is saved.')).toBeVisible();
    expect(await (await page.request.get('/api/session')).json()).toMatchObject({ user: { name: 'Ada Larch' } });
  });

  await test.step('a new password ends the other sessions', async () => {
    await request.post('/api/login', { data: { email, password: passPhrase } });
    await page.getByRole('link', { name: 'Security', exact: true }).click();
    await openSetting(page, 'Password');
    await page.getByLabel('Current password').fill('not the pass phrase');
    await page.getByLabel('New password').fill(other);
    await page.getByRole('button', { name: 'Change the password' }).click();
    await expect(page.getByRole('alert').first()).toContainText('This password is wrong.');
    await page.getByLabel('Current password').fill(passPhrase);
    await page.getByLabel('New password').fill(other);
    await page.getByRole('button', { name: 'Change the password' }).click();
    await expect(page.getByText('Your password is set.')).toBeVisible();
    expect((await request.get('/api/session')).status()).toBe(401);
  });

  await test.step('the data is downloaded as a file', async () => {
    await page.getByRole('link', { name: 'Data', exact: true }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download' }).click();
    expect((await download).suggestedFilename()).toBe('account.json');
  });

  await test.step('the account is deleted with its organisation', async () => {
    await page.getByRole('link', { name: 'Delete the account' }).click();
    await expect(page.getByText('Short Stay Ltd, because no one else is in it.')).toBeVisible();
    await page.getByLabel('Password', { exact: true }).fill(other);
    await page.getByRole('button', { name: 'Delete the account' }).click();
    await expect(page.getByText('Your account is deleted.')).toBeVisible();
    expect((await request.post('/api/login', { data: { email, password: other } })).status()).toBe(401);
  });
});

test('a user who signed in through the identity provider replaces a forgotten password', async ({
  page,
  request,
  service,
}) => {
  const email = await makeOwner(service, request);
  await page.goto('/login');
  await page.getByRole('link', { name: /^Continue with/ }).click();
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Name').fill('A Person');
  await page.getByRole('button', { name: 'Create and continue' }).click();
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await expect(page).toHaveURL('/');

  await page.goto('/account/security');
  await openSetting(page, 'Password');
  await expect(page.getByLabel('Current password')).toHaveCount(0);
  await page.getByLabel('New password').fill(other);
  await page.getByRole('button', { name: 'Change the password' }).click();
  await expect(page.getByText('Your password is set.')).toBeVisible();
  expect((await request.post('/api/login', { data: { email, password: other } })).status()).toBe(200);
  expect((await request.post('/api/login', { data: { email, password: passPhrase } })).status()).toBe(401);
});

test('a password link from the operator console lets a user sign in again', async ({
  browser,
  page,
  request,
  service,
}) => {
  const email = await makeOwner(service, request);
  await signIn(page, await sharedOperator(service, request));
  await page.goto(`/operator/people?search=${email}`);
  await page.getByRole('link', { name: email }).click();
  await page.getByRole('button', { name: `Password link for ${email}` }).click();
  const link = await page.getByLabel('The password link').inputValue();

  const theirs = await (await browser.newContext({ baseURL: service.baseUrl })).newPage();
  await theirs.goto(link);
  await expect(theirs.getByText(email)).toBeVisible();
  await theirs.getByLabel('New password').fill(other);
  await theirs.getByRole('button', { name: 'Set the password' }).click();
  await expect(theirs.getByText('Your password is set. Sign in with it.')).toBeVisible();
  expect((await request.post('/api/login', { data: { email, password: other } })).status()).toBe(200);

  await theirs.goto(link);
  await expect(theirs.getByRole('heading', { name: 'This link doesn’t work' })).toBeVisible();
});
