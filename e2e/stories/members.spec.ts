import type { Page } from '@playwright/test';
import { inviteOn, linkFor, makeOwner, newEmail, passPhrase, signIn, signInOnPage } from '../support/people.ts';
import { expect, type Service, test } from '../support/service.ts';

/** Creates an account on the page of an invitation, and confirms its address. */
async function signUpBy(page: Page, service: Service, invitation: string): Promise<string> {
  const email = newEmail('invited');
  await page.goto(invitation);
  await page.getByRole('button', { name: 'Create an account' }).click();
  await expect(page.getByText('Then you join Larch & Sons as a member.')).toBeVisible();
  await expect(page.getByLabel('Organisation')).toHaveCount(0);
  await page.getByLabel('E-mail', { exact: true }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill(passPhrase);
  await page.getByRole('button', { name: /^Create (organisation|account)$/ }).click();
  // The mail can arrive before the page does, whose navigation would interrupt that of the link.
  await expect(page.getByRole('heading', { name: 'Check your e-mail' })).toBeVisible();
  await expect(page.getByText('Join Larch & Sons')).toBeVisible();
  await page.goto(await linkFor(service, email));
  await expect(page.locator('main')).toHaveAttribute('data-awaiting-approval', 'true');
  await expect(page.getByText('Sign in to join.')).toBeVisible();
  return email;
}

async function rowOf(page: Page, email: string) {
  await page.goto('/members');
  return page.getByRole('row').filter({ hasText: email });
}

test('a user is invited, joins, changes roles, and is removed', async ({ browser, page, request, service }) => {
  const host = await makeOwner(service, request, { organisation: 'Larch & Sons' });
  await signIn(page, host);
  const invitation = await inviteOn(page);
  const theirs = await (await browser.newContext({ baseURL: service.baseUrl })).newPage();
  let email = '';

  await test.step('a GET or HEAD of the link neither consumes the invitation nor sets a cookie', async () => {
    expect((await theirs.request.head(invitation)).status()).toBe(200);
    const answer = await theirs.goto(invitation);
    expect(answer?.headers()).toMatchObject({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' });
    await expect(theirs.getByRole('heading', { name: 'Join Larch & Sons' })).toBeVisible();
    expect((await theirs.context().cookies()).map(({ name }) => name)).toEqual([]);
    expect((await theirs.goto('/invitation?token=x'))?.status()).toBe(400);
    await expect(theirs.getByRole('heading', { name: 'This invitation doesn’t work' })).toBeVisible();
  });

  await test.step('a new user signs up with it, and gets no organisation', async () => {
    email = await signUpBy(theirs, service, invitation);
    await expect(theirs.getByLabel('E-mail', { exact: true })).toHaveValue(email);
  });

  await test.step('the user signs in on the link’s page and has joined, without an operator’s approval', async () => {
    await theirs.getByLabel('Password', { exact: true }).fill(passPhrase);
    await theirs.getByRole('button', { name: 'Sign in' }).click();
    await expect(theirs).toHaveURL('/onboarding');
    await expect(theirs.getByText('You’re now a member of Larch & Sons.')).toBeVisible();
    await theirs.getByRole('button', { name: 'Continue', exact: true }).click();
    await expect(theirs).toHaveURL('/');
    const session = await (await theirs.request.get('/api/session')).json();
    expect(session).toMatchObject({ organisation: { name: 'Larch & Sons' }, role: 'member' });
    expect((await theirs.goto(invitation))?.status()).toBe(400);
  });

  await test.step('a new role applies from the user’s next request', async () => {
    await theirs.goto('/members');
    await expect(theirs.getByRole('link', { name: 'Invite someone' })).toHaveCount(0);
    const row = await rowOf(page, email);
    await row.getByRole('combobox').selectOption('Admin');
    await row.getByRole('button', { name: 'Change' }).click();
    await expect(page.getByRole('status').getByText(`${email} is now an admin.`)).toBeVisible();
    await expect(page.getByRole('button', { name: `Change the role of ${email}` })).toBeFocused();
    await expect(row.getByRole('combobox')).toHaveValue('admin');
    await theirs.goto('/members?invite');
    await expect(
      theirs.getByText('Member limit reached. Free includes 2 members. Upgrade, or remove someone.'),
    ).toBeVisible();
    await expect(theirs.getByLabel(`Role of ${host}`)).toHaveCount(0);
    await theirs.goto('/account/security');
    await expect(theirs.getByText('changed you from member to admin')).toBeVisible();
  });

  await test.step('home shows a removed user that there is no organisation', async () => {
    const row = await rowOf(page, email);
    await row.getByRole('link', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await expect(page.getByText(`${email} is no longer a member.`)).toBeVisible();
    await expect(row).toHaveCount(0);
    await theirs.goto('/');
    await expect(theirs.getByText('You’re not in an organisation')).toBeVisible();
    expect((await theirs.request.get('/api/subscription')).status()).toBe(403);
  });
});

test('a member of two organisations switches between them by keyboard, and leaves one', async ({
  browser,
  page,
  request,
  service,
}) => {
  await signIn(page, await makeOwner(service, request, { organisation: 'Larch & Sons' }));
  const invitation = await inviteOn(page, 'Viewer');
  const theirs = await (await browser.newContext({ baseURL: service.baseUrl })).newPage();
  const violations: string[] = [];
  theirs.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) violations.push(message.text());
  });
  await signInOnPage(theirs, await makeOwner(service, request, { organisation: 'Quayside' }));
  await theirs.goto(invitation);
  await theirs.getByRole('button', { name: 'Join Larch & Sons' }).click();
  await expect(theirs).toHaveURL('/');

  await theirs.goto('/members');
  await theirs.getByRole('button', { name: /switch organisation/ }).focus();
  await theirs.keyboard.press('Enter');
  await expect(theirs.getByRole('menuitemradio', { name: 'Larch & Sons' })).toHaveAttribute('aria-checked', 'true');
  await theirs.keyboard.press('Escape');
  await expect(theirs.getByRole('menuitemradio')).toHaveCount(0);
  await expect(theirs.getByRole('button', { name: /switch organisation/ })).toBeFocused();
  await theirs.keyboard.press('Enter');
  await expect(theirs.locator('[role=menu]:focus, [role=menu] :focus')).toHaveCount(1);
  await theirs.keyboard.type('qu');
  await expect(theirs.getByRole('menuitemradio', { name: 'Quayside' })).toBeFocused();
  await theirs.keyboard.press('Enter');
  await expect(theirs.getByText('1 member')).toBeVisible();
  await expect(theirs).toHaveURL('/members');
  expect(await (await theirs.request.get('/api/session')).json()).toMatchObject({ organisation: { name: 'Quayside' } });

  await theirs.getByRole('button', { name: /switch organisation/ }).click();
  await theirs.getByRole('menuitemradio', { name: 'Larch & Sons' }).click();
  await expect(theirs.getByText('2 members')).toBeVisible();
  await theirs.getByRole('link', { name: 'Leave Larch & Sons' }).click();
  await theirs.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
  await expect(theirs.getByRole('heading', { name: 'Quayside' })).toBeVisible();
  await theirs.goto('/members');
  await expect(theirs.getByText('You’re the only owner, so you can’t leave.')).toBeVisible();
  expect(violations).toEqual([]);
});

test('a user whose own organisation awaits approval joins another by the link, through the identity provider', async ({
  browser,
  page,
  request,
  service,
}) => {
  await signIn(page, await makeOwner(service, request, { organisation: 'Larch & Sons' }));
  const invitation = await inviteOn(page);
  const theirs = await (await browser.newContext({ baseURL: service.baseUrl })).newPage();
  const waiting = await makeOwner(service, request, { approved: false, organisation: 'Waiting Ltd' });
  await theirs.goto(invitation);
  await theirs.getByRole('button', { name: 'Sign in' }).click();
  await expect(theirs.getByText('To join Larch & Sons.')).toBeVisible();
  await theirs.getByRole('link', { name: /^Continue with/ }).click();
  await theirs.getByLabel('E-mail address').fill(waiting);
  await theirs.getByRole('button', { name: 'Create and continue' }).click();
  await expect(theirs).toHaveURL('/invitation');

  await theirs.getByRole('button', { name: 'Not now' }).click();
  await expect(theirs).toHaveURL('/awaiting-approval');
  await theirs.goto(invitation);
  await theirs.getByRole('button', { name: 'Join Larch & Sons' }).click();
  await expect(theirs).toHaveURL('/onboarding');
  const session = await (await theirs.request.get('/api/session')).json();
  expect(session).toMatchObject({ user: { email: waiting }, organisation: { name: 'Larch & Sons' } });

  await theirs.getByRole('button', { name: 'Continue', exact: true }).click();
  await theirs.getByRole('button', { name: /switch organisation/ }).click();
  await expect(theirs.getByRole('menuitemradio', { name: /Waiting Ltd.*Awaiting approval/ })).toBeDisabled();
});

test('a new user of the identity provider with an invitation gets no own organisation', async ({
  browser,
  page,
  request,
  service,
}) => {
  await signIn(page, await makeOwner(service, request, { organisation: 'Larch & Sons' }));
  const invitation = await inviteOn(page);
  const theirs = await (await browser.newContext({ baseURL: service.baseUrl })).newPage();
  await theirs.goto(invitation);
  await theirs.getByRole('button', { name: 'Create an account' }).click();
  await theirs.getByRole('link', { name: /^Continue with/ }).click();
  await theirs.getByLabel('E-mail address').fill(newEmail('provided'));
  await theirs.getByRole('button', { name: 'Create and continue' }).click();
  await expect(theirs).toHaveURL('/onboarding');
  await theirs.getByRole('button', { name: 'Continue', exact: true }).click();
  await expect(theirs.getByText('Larch & Sons', { exact: true }).first()).toBeVisible();
  await expect(theirs.getByRole('button', { name: /switch organisation/ })).toHaveCount(0);
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('a user is invited, joins, switches, and is removed', async ({ browser, page, request, service }) => {
    await signIn(page, await makeOwner(service, request, { organisation: 'Larch & Sons' }));
    const invitation = await inviteOn(page);
    const context = await browser.newContext({ baseURL: service.baseUrl, javaScriptEnabled: false });
    const theirs = await context.newPage();
    const email = await signUpBy(theirs, service, invitation);
    await theirs.getByLabel('Password', { exact: true }).fill(passPhrase);
    await theirs.getByRole('button', { name: 'Sign in' }).click();
    await theirs.getByRole('button', { name: 'Continue', exact: true }).click();
    await expect(theirs).toHaveURL('/');

    const row = await rowOf(page, email);
    await row.getByRole('combobox').selectOption('Owner');
    await row.getByRole('button', { name: 'Change' }).click();
    await expect(page.getByText(`${email} is now an owner.`)).toBeVisible();
    await theirs.goto('/members');
    await expect(theirs.getByRole('button', { name: `Change the role of ${email}` })).toBeVisible();

    const other = await browser.newPage({ baseURL: service.baseUrl });
    await signIn(other, await makeOwner(service, request, { organisation: 'Quayside' }));
    await theirs.goto(await inviteOn(other));
    await theirs.getByRole('button', { name: 'Join Quayside' }).click();
    await expect(theirs).toHaveURL('/');
    await theirs.goto('/members');
    await theirs.locator('summary', { hasText: 'switch organisation' }).click();
    await theirs.getByRole('button', { name: 'Larch & Sons' }).click();
    await expect(theirs).toHaveURL('/members');
    await expect(theirs.getByText('2 members')).toBeVisible();

    await (await rowOf(page, email)).getByRole('link', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await expect(page.getByText(`${email} is no longer a member.`)).toBeVisible();
    await theirs.goto('/');
    await expect(theirs.getByRole('heading', { name: 'Quayside' })).toBeVisible();
    await context.close();
  });
});
