import { linkFor, makeOwner, newEmail, passPhrase, signInOnPage } from '../support/people.ts';
import { expect, test } from '../support/service.ts';

test.use({ javaScriptEnabled: false });

test('sign-up and sign-in work without JavaScript, and show errors', async ({ page, service }) => {
  const email = newEmail('plain');
  await page.goto('/signup');
  await page.getByLabel('Organisation').fill('Plain Pages');
  await page.getByLabel('E-mail', { exact: true }).fill('nobody');
  await page.getByLabel('Password', { exact: true }).fill('short');
  await page.getByRole('button', { name: /^Create (organisation|account)$/ }).click();
  await expect(page.getByRole('alert')).toContainText('address');
  await expect(page.getByLabel('Organisation')).toHaveValue('Plain Pages');

  await page.getByLabel('E-mail', { exact: true }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill(passPhrase);
  await page.getByRole('button', { name: /^Create (organisation|account)$/ }).click();
  await expect(page.getByRole('heading', { name: 'Check your e-mail' })).toBeVisible();

  await page.goto(await linkFor(service, email));
  await expect(page.locator('main')).toHaveAttribute('data-ok', 'true');
  await page.getByLabel('E-mail', { exact: true }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill('not the pass phrase');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByText('E-mail or password is wrong.').first()).toBeVisible();
  await page.getByLabel('Password', { exact: true }).fill(passPhrase);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page).toHaveURL('/awaiting-approval');

  await service.approve(email);
  await expect(page).toHaveURL('/onboarding');
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await expect(page).toHaveURL('/');
});

test('a plan is bought, cancelled and kept without JavaScript', async ({ page, service }) => {
  const email = newEmail('buyer');
  await page.request.post('/api/signup', { data: { email, password: passPhrase, org_name: 'Buyers' } });
  await page.request.get(await linkFor(service, email));
  await service.approve(email);
  await page.request.post('/api/login', { data: { email, password: passPhrase } });

  await page.goto('/billing');
  await page.getByRole('button', { name: 'Choose Gold' }).click();
  await page.waitForURL(`${service.sandboxUrl}/pay/checkout/**`);
  await page.getByRole('button', { name: /^Pay/ }).click();
  await expect(page.getByText('You are on Gold')).toBeVisible();
  await page.getByRole('link', { name: 'Cancel plan' }).click();
  await page.getByRole('button', { name: 'Cancel Gold' }).click();
  await expect(page.getByText(/Ends on/)).toBeVisible();
  await page.getByRole('button', { name: 'Keep Gold' }).click();
  await expect(page.getByText(/Renews on/)).toBeVisible();
});

test('a user who awaits approval changes the password, ends sessions and deletes the account without JavaScript', async ({
  page,
  request,
  service,
}) => {
  const email = await makeOwner(service, request, { approved: false, organisation: 'Second Thoughts' });
  await signInOnPage(page, email);
  await expect(page).toHaveURL('/awaiting-approval');
  await page.goto('/account');
  await expect(page).toHaveURL('/awaiting-approval');
  await page.getByRole('link', { name: 'Your account' }).click();

  await request.post('/api/login', { data: { email, password: passPhrase } });
  await page.reload();
  await page.getByRole('button', { name: /^Sign out .*, signed in/ }).click();
  await expect(page.getByText('That session has ended.')).toBeVisible();
  expect((await request.get('/api/session')).status()).toBe(401);

  const other = 'quite another pass phrase';
  await page.getByLabel('Current password').fill('not the pass phrase');
  await page.getByLabel('New password').fill(other);
  await page.getByRole('button', { name: 'Change the password' }).click();
  await expect(page.getByRole('alert')).toContainText('This password is wrong.');
  await page.getByLabel('Current password').fill(passPhrase);
  await page.getByLabel('New password').fill(other);
  await page.getByRole('button', { name: 'Change the password' }).click();
  await expect(page.getByText('Your password is set.')).toBeVisible();

  await page.getByLabel('Password', { exact: true }).fill(passPhrase);
  await page.getByRole('button', { name: 'Delete the account' }).click();
  await expect(page.getByRole('alert')).toContainText('This password is wrong.');
  await page.getByLabel('Password', { exact: true }).fill(other);
  await page.getByRole('button', { name: 'Delete the account' }).click();
  await expect(page.getByText('Your account is deleted.')).toBeVisible();
});
