import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/browser/accessibility.ts';
import { addApp, codeOf, toSecondStep } from '../support/factors.ts';
import { inviteOn, makeOwner, passPhrase, signIn } from '../support/people.ts';
import { expect, startService, test } from '../support/service.ts';
import { openSetting } from '../support/settings.ts';

/** Sets up an authenticator app on the page that requires it, and keeps the recovery codes. `look` is called on both pages. */
async function setUpRequiredApp(page: Page, look: (name: string) => Promise<void> = async () => {}): Promise<string> {
  await page.getByRole('button', { name: 'Set up an app' }).click();
  await expect(page.getByRole('img', { name: 'QR code of the key' })).toBeVisible();
  await look('the set-up that is required');
  const secret = await page.getByRole('textbox', { name: 'Key', exact: true }).inputValue();
  await page.getByLabel('Code that the app shows now').fill('000000');
  await page.getByRole('button', { name: 'Turn on' }).click();
  await expect(page.getByText('That code is wrong.')).toBeVisible();
  await page.getByLabel('Code that the app shows now').fill(codeOf(secret));
  await page.getByRole('button', { name: 'Turn on' }).click();
  await expect(page.getByRole('heading', { name: /^Keep these codes now/ })).toBeVisible();
  await expect(page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem')).toHaveCount(10);
  await look('the codes after a required set-up');
  await page.getByRole('link', { name: 'Done' }).click();
  return secret;
}

// every-page.spec.ts checks these pages by axe, and the operators’ story below those that differ for them.
for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? 'with JavaScript' : 'without JavaScript', () => {
    test.use({ javaScriptEnabled });

    test('an organisation requires a second factor, and a member sets one up to go on', async ({
      page,
      browser,
      request,
      service,
    }) => {
      const email = await makeOwner(service, request, { organisation: 'Strict Ltd' });
      await signIn(page, email);
      const invitation = await inviteOn(page);
      const context = await browser.newContext({ baseURL: service.baseUrl, javaScriptEnabled });
      const theirs = await context.newPage();
      const member = await makeOwner(service, request, { organisation: 'Quayside' });
      await signIn(theirs, member);
      await theirs.goto(invitation);
      await theirs.getByRole('button', { name: 'Join Strict Ltd' }).click();
      await expect(theirs).toHaveURL('/');

      await page.goto('/organisation');
      await openSetting(page, 'Second factor');
      await expect(page.getByText('Set up a second factor of your own before')).toBeVisible();
      await addApp(page.request);
      await page.goto('/organisation');
      await expect(page.getByText('Not required')).toBeVisible();
      await openSetting(page, 'Second factor');
      await page.locator('summary', { hasText: '1 member has none' }).click();
      await expect(page.getByText(member)).toBeVisible();
      await page.getByRole('button', { name: 'Require a second factor' }).click();
      await expect(page.getByText(/^Required since/)).toBeVisible();

      await theirs.goto('/members');
      await expect(theirs).toHaveURL('/account/security/required');
      await expect(theirs.getByText('Strict Ltd requires a second factor')).toBeVisible();
      // Another organisation of theirs is not concerned.
      await theirs.getByRole('button', { name: 'Open Quayside' }).click();
      await expect(theirs).toHaveURL('/');
      const { organisation } = await (await page.request.get('/api/session')).json();
      await theirs.request.post('/api/trpc/organisations.switch', { data: { organisation_id: organisation.id } });
      await theirs.goto('/');
      await setUpRequiredApp(theirs);
      await expect(theirs).toHaveURL('/');
      await theirs.goto('/members');
      await expect(theirs).toHaveURL('/members');

      // The last one stays.
      await theirs.goto('/account/security');
      await theirs.getByRole('button', { name: 'Remove the authenticator app' }).click();
      await expect(theirs.getByText(/^You must have a second factor/).first()).toBeVisible();
      await page.goto('/organisation');
      await openSetting(page, 'Second factor');
      await expect(page.getByText('Every member has one.')).toBeVisible();
      await page.getByRole('button', { name: 'No longer require it' }).click();
      await expect(page.getByText('Not required')).toBeVisible();
      await context.close();
    });
  });
}

test('operators must have a second factor, and set one up before they go on', async ({ browser }) => {
  const service = await startService({ environment: { SECOND_FACTOR: 'operators' } });
  try {
    const context = await browser.newContext({ baseURL: service.baseUrl, locale: 'en-GB' });
    const page = await context.newPage();
    const email = await makeOwner(service, context.request, { operator: true });
    await page.request.post('/api/login', { data: { email, password: passPhrase } });
    await page.goto('/');
    await expect(page).toHaveURL('/account/security/required');
    await page.goto('/operator');
    await expect(page).toHaveURL('/account/security/required');
    await expect(page.getByText('Your account needs a second factor')).toBeVisible();
    const secret = await setUpRequiredApp(page, (name) => expectAccessible(page, name));
    await page.goto('/operator');
    await expect(page).toHaveURL('/operator');

    await page.request.post('/api/logout');
    await toSecondStep(page, email, passPhrase);
    await expect(page.getByLabel('Don’t ask in this browser for 30 days')).toHaveCount(0);
    await page.getByLabel('Code from your app').fill(codeOf(secret, 1));
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    await expect(page).not.toHaveURL('/login/second-step');

    // A sign-in with a factor may take a user's factors away, and the user's home tells them.
    const theirs = await (await browser.newContext({ baseURL: service.baseUrl, locale: 'en-GB' })).newPage();
    const user = await makeOwner(service, theirs.request);
    await signIn(theirs, user);
    await addApp(theirs.request);
    await page.goto(`/operator/people?search=${encodeURIComponent(user)}`);
    await page.getByRole('link', { name: user }).first().click();
    await expect(page.getByRole('heading', { name: user })).toBeVisible();
    await expectAccessible(page, 'a person with a second factor');
    await page.getByRole('link', { name: `Reset second factor of ${user}` }).click();
    await expect(page.getByRole('dialog')).toBeVisible();
    await expectAccessible(page, 'the reset of a second factor');
    await page.getByRole('dialog').getByRole('button', { name: 'Reset' }).click();
    await expect(page.getByText('The second factor is reset.')).toBeVisible();
    await expect(page.getByRole('link', { name: /^Reset second factor/ })).toHaveCount(0);
    await theirs.goto('/');
    await expect(theirs).toHaveURL('/login');
    await signIn(theirs, user);
    await theirs.goto('/');
    await expect(theirs.getByText('An operator removed all second factors')).toBeVisible();
    await theirs.context().close();
    await context.close();
  } finally {
    await service.stop();
  }
});
