import { addNote } from '../support/example.ts';
import { linkFor, newEmail, passPhrase } from '../support/people.ts';
import { hasOpenssl } from '../support/servers/tls-proxy.ts';
import { expect, type StartedService, startService, test } from '../support/service.ts';

test.skip(!hasOpenssl(), 'There is no openssl on this machine to make a certificate.');
test.use({ ignoreHTTPSErrors: true });
test.setTimeout(600_000);

let service: StartedService;
let [id, app] = ['', ''];
const email = newEmail('owner');

test.beforeAll(async () => {
  service = await startService({ command: 'example' });
  const port = Number(new URL(service.baseUrl).port) + 4;
  id = `https://id.gatehouse.localhost:${port}`;
  app = `https://app.gatehouse.localhost:${port}`;
  await expect.poll(() => service.printed(), { timeout: 60_000 }).toContain(`Notes is up: ${app}`);
});
test.afterAll(() => service?.stop());

// Only browsers resolve the hosts, so every request of the story is the page's.
test('a product on a host of its own beside Gatehouse', async ({ page, context }) => {
  const signIn = async () => {
    await page.getByLabel('E-mail', { exact: true }).fill(email);
    await page.getByLabel('Password', { exact: true }).fill(passPhrase);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };

  await test.step('the guard leads to sign-in, and sign-in back to the product', async () => {
    await page.goto(`${id}/signup`);
    await page.getByLabel('Organisation').fill('Larch & Sons');
    await page.getByLabel('E-mail', { exact: true }).fill(email);
    await page.getByLabel('Password', { exact: true }).fill(passPhrase);
    await page.getByRole('button', { name: /^Create (organisation|account)$/ }).click();
    await expect(page.getByRole('heading', { name: 'Check your e-mail' })).toBeVisible();
    await page.goto(await linkFor(service, email));
    await expect(page.locator('main')).toHaveAttribute('data-ok', 'true');
    await service.approve(email);

    await page.goto(app);
    await expect(page).toHaveURL(`${id}/login?return_to=${encodeURIComponent(`${app}/`)}`);
    await signIn();
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    await expect(page).toHaveURL(`${app}/`);
    await expect(page.getByRole('heading', { name: 'Notes of Larch & Sons' })).toBeVisible();
    expect((await context.cookies(app)).map(({ name }) => name)).toEqual(['__Secure-gatehouse']);
  });

  await test.step('a plan that changes shows in the product', async () => {
    for (const text of ['Call the mill', 'Order larch', 'Send the invoice', 'One too many']) await addNote(page, text);
    await expect(page.getByRole('alert')).toContainText('The Free plan allows 3 notes.');
    await page.getByRole('link', { name: 'See the plans' }).click();
    await page.getByRole('button', { name: 'Choose Silver' }).click();
    await page.waitForURL(`${service.sandboxUrl}/**`);
    await page.getByLabel(/4242/).first().check();
    await page.getByRole('button', { name: /^Pay/ }).click();
    await expect(page.getByText('You are on Silver')).toBeVisible();
    // The product learns of the change a moment later.
    await expect(async () => {
      await page.goto(app);
      await expect(page.getByText('Silver plan: 3 of 100 notes')).toBeVisible({ timeout: 1_000 });
    }).toPass();
  });

  await test.step('while Gatehouse is away for a minute the product goes on, and adds nothing uncounted', async () => {
    const resume = service.suspend();
    try {
      const until = Date.now() + 60_000;
      while (Date.now() < until) {
        await page.goto(app);
        await expect(page.getByText('Silver plan: 3 of 100 notes')).toBeVisible();
        await addNote(page, 'While Gatehouse is away');
        await expect(page.getByRole('alert')).toContainText('Notes cannot be added at the moment.');
        await page.waitForTimeout(5_000);
      }
    } finally {
      resume();
    }
    await expect(async () => {
      await page.goto(app);
      await addNote(page, 'Gatehouse is back');
      await expect(page.getByRole('listitem').filter({ hasText: 'Gatehouse is back' })).toBeVisible({ timeout: 5_000 });
    }).toPass({ timeout: 60_000 });
  });

  await test.step('a shared cookie that is lost is given again', async () => {
    // More than ten seconds after home has led this session to the product: within them it would not again.
    await context.clearCookies({ name: '__Secure-gatehouse' });
    await page.goto(app);
    await expect(page).toHaveURL(`${app}/`);
    await expect(page.getByText('Call the mill')).toBeVisible();
    // The product gets a token for the new cookie after its first request.
    await page.reload();
  });

  await test.step('sign-out from the product ends the session everywhere', async () => {
    await page.getByRole('link', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await expect(page).toHaveURL(`${id}/login?return_to=${encodeURIComponent(`${app}/`)}`);
    await page.goto(`${id}/account`);
    await expect(page).toHaveURL(`${id}/login`);
    expect(await context.cookies(app)).toEqual([]);
  });
});
