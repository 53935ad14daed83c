import { inviteOn, linkFor, makeOwner, newEmail, passPhrase, signIn } from '../support/people.ts';
import { expect, test } from '../support/service.ts';
import { openSetting } from '../support/settings.ts';

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? 'with JavaScript' : 'without JavaScript', () => {
    test.use({ javaScriptEnabled });

    test('a page lists what ends with a role before it does, and says so afterwards', async ({
      browser,
      page,
      request,
      service,
    }) => {
      await signIn(page, await makeOwner(service, request, { organisation: 'Ended Roles' }));
      const admin = newEmail('admin');
      const theirs = await browser.newContext({ baseURL: service.baseUrl });
      const adminPage = await theirs.newPage();
      await adminPage.goto(await inviteOn(page, 'Admin'));
      const data = { email: admin, password: passPhrase };
      await makeOwner(service, request, { email: admin });
      await adminPage.request.post('/api/login', { data });
      await adminPage.reload();
      await adminPage.getByRole('button', { name: /^Join/ }).click();
      await adminPage.waitForURL('/');
      const session = await (await adminPage.request.get('/api/session')).json();
      const organisation_id = session.organisation.id;
      const created = await adminPage.request.post('/api/trpc/keys.create', {
        data: { organisation_id, name: 'Worker' },
      });
      const { key } = (await created.json()).result.data;
      const invitation = await inviteOn(adminPage);
      const worker = () => request.get('/api/changes', { headers: { authorization: `Bearer ${key}` } });
      expect((await worker()).status()).toBe(200);

      await page.goto('/members');
      const row = page.getByRole('row').filter({ hasText: admin });
      await row.getByRole('combobox').selectOption('Member');
      await row.getByRole('button', { name: /^Change/ }).click();
      await expect(row.getByRole('status')).toContainText('1 invitation that isn’t used yet');
      await expect(row.getByRole('status')).toContainText('Worker');
      await expect(row.getByRole('combobox')).toHaveValue('member');
      expect((await worker()).status()).toBe(200);

      await row.getByRole('button', { name: /^Change/ }).click();
      await expect(page.getByText(/Ended as well: 1 invitation that isn’t used yet, API keys: Worker\./)).toBeVisible();
      expect((await worker()).status()).toBe(401);
      await adminPage.goto(invitation);
      await expect(adminPage.locator('main')).not.toContainText('Ended Roles');
      await theirs.close();
    });

    test('a change of address lists what ends with it, keys on request', async ({ page, request, service }) => {
      const email = await makeOwner(service, request, { organisation: 'Ended Addresses' });
      await signIn(page, email);
      const session = await (await page.request.get('/api/session')).json();
      const data = { organisation_id: session.organisation.id, name: 'Worker' };
      await page.request.post('/api/trpc/keys.create', { data });
      await inviteOn(page);
      const wanted = newEmail('moved');
      await page.goto('/account');
      await openSetting(page, 'E-mail');
      const form = page.locator('form[action="?/changeAddress"]');
      await expect(form).toContainText('1 invitation that isn’t used yet');
      await form.getByLabel('Revoke them as well').check();
      await form.getByLabel('New address').fill(wanted);
      await form.getByLabel('Password', { exact: true }).fill(passPhrase);
      await form.getByRole('button', { name: 'Send the link' }).click();
      await page.goto(await linkFor(service, wanted));
      await expect(page.getByRole('heading', { name: 'Address changed' })).toBeVisible();
      await expect(page.locator('main')).toContainText(
        'Ended as well: 1 invitation that isn’t used yet, API keys: Worker.',
      );
      await page.goto('/keys');
      await expect(page.getByText('Revoked', { exact: true })).toBeVisible();
    });
  });
}
