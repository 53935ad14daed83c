import { inviteOn, makeOwner, passPhrase, signIn } from '../support/people.ts';
import { expect, test } from '../support/service.ts';
import { openSetting } from '../support/settings.ts';

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? 'with JavaScript' : 'without JavaScript', () => {
    test.use({ javaScriptEnabled });

    test('an owner renames the organisation, transfers it, and the new owner deletes it', async ({
      browser,
      page,
      request,
      service,
    }) => {
      await signIn(page, await makeOwner(service, request, { organisation: 'Larch & Sons' }));
      const invitation = await inviteOn(page);
      const context = await browser.newContext({ baseURL: service.baseUrl, javaScriptEnabled });
      const theirs = await context.newPage();
      const successor = await makeOwner(service, request, { organisation: 'Quayside' });
      await signIn(theirs, successor);
      await theirs.goto(invitation);
      await theirs.getByRole('button', { name: 'Join Larch & Sons' }).click();
      await expect(theirs).toHaveURL('/');

      await page.goto('/organisation');
      const slug = (await page.getByText(/^larch-sons(-\w+)?$/).textContent()) ?? '';
      await openSetting(page, 'Name');
      await page.getByLabel('Name', { exact: true }).fill('');
      await page.getByRole('button', { name: 'Save' }).click();
      await expect(page.getByRole('alert')).toContainText('Enter a name.');
      await page.getByLabel('Name', { exact: true }).fill('Larch Group');
      await page.getByRole('button', { name: 'Save' }).click();
      await expect(page.getByRole('status').first()).toContainText('The organisation is now called Larch Group.');
      await expect(page.locator('#name-row')).toContainText('Saved');
      await expect(page.locator('#notice')).toHaveCount(0);
      await openSetting(page, 'Billing contact');
      await page.getByLabel('E-mail').fill('bills@larch.example');
      await page.getByRole('button', { name: 'Save' }).click();
      await expect(page.getByRole('status').first()).toContainText('Invoices now go to bills@larch.example.');
      await expect(page.locator('summary', { hasText: 'bills@larch.example' })).toContainText('Saved');
      await expect(page.getByText(slug, { exact: true })).toBeVisible();

      await page.getByRole('link', { name: 'Transfer ownership' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Your password').fill('not the pass phrase');
      await dialog.getByRole('button', { name: 'Transfer ownership' }).click();
      await expect(dialog.getByRole('alert')).toContainText('This password is wrong.');
      await dialog.getByLabel('New owner').selectOption(successor);
      await dialog.getByLabel('Your password').fill(passPhrase);
      await dialog.getByRole('button', { name: 'Transfer ownership' }).click();
      await expect(page.getByText(`${successor} is now an owner.`)).toBeVisible();
      await expect(page.getByRole('link', { name: 'Delete…' })).toHaveCount(0);

      await theirs.goto('/organisation');
      await theirs.getByRole('link', { name: 'Delete…' }).click();
      const last = theirs.getByRole('dialog');
      await last.getByLabel('Your password').fill(passPhrase);
      await last.getByRole('button', { name: 'Delete the organisation' }).click();
      await expect(theirs.getByRole('heading', { name: 'Quayside' })).toBeVisible();
      await context.close();

      await page.goto('/');
      await page.getByRole('link', { name: 'create an organisation' }).click();
      await page.getByLabel('Organisation').fill('Fresh Start');
      await page.getByRole('button', { name: 'Create organisation' }).click();
      await expect(page).toHaveURL('/awaiting-approval');
    });

    test('an owner requests a second organisation, withdraws it, requests another, and switches once it is approved', async ({
      page,
      request,
      service,
    }) => {
      const email = await makeOwner(service, request, { organisation: 'Larch & Sons' });
      await signIn(page, email);
      await page.goto('/members');
      await page.locator('summary', { hasText: 'your organisations' }).click();
      await expect(page.getByText('Your role: Owner')).toBeVisible();
      await page.getByRole('link', { name: 'Create an organisation' }).click();
      await expect(page).toHaveURL('/organisation?create');
      await page.getByRole('button', { name: 'Create organisation' }).click();
      await expect(page.getByRole('alert')).toContainText('Enter a name.');
      await page.getByLabel('Organisation', { exact: true }).fill('Larch Mistake');
      await page.getByRole('button', { name: 'Create organisation' }).click();
      await expect(
        page.getByText('Larch Mistake is awaiting approval. You stay in Larch & Sons until then.'),
      ).toBeVisible();

      await page.goto('/organisation?create');
      await expect(page.getByRole('button', { name: 'Create organisation' })).toHaveCount(0);
      await page.getByRole('button', { name: 'Withdraw the request' }).click();
      await expect(page.getByText('The request for Larch Mistake is withdrawn.')).toBeVisible();

      await page.goto('/organisation?create');
      await page.getByLabel('Organisation', { exact: true }).fill('Larch Abroad');
      await page.getByRole('button', { name: 'Create organisation' }).click();
      await expect(page.getByText('Larch Abroad is awaiting approval.')).toBeVisible();
      await service.approve(email);
      await page.goto('/members');
      if (javaScriptEnabled) {
        await page.getByRole('button', { name: /switch organisation/ }).click();
        await page.getByRole('menuitemradio', { name: /Larch Abroad.*Owner/ }).click();
      } else {
        await page.locator('summary', { hasText: 'switch organisation' }).click();
        await page.getByRole('button', { name: /Larch Abroad.*Owner/ }).click();
      }
      const current = async () => (await (await page.request.get('/api/session')).json()).organisation.name;
      await expect.poll(current).toBe('Larch Abroad');
      await expect(page.getByText('1 member')).toBeVisible();
    });

    test('an owner confirms who they are before a request with members is withdrawn', async ({
      page,
      request,
      service,
    }) => {
      const email = await makeOwner(service, request, { organisation: 'Larch & Sons' });
      const colleague = await makeOwner(service, request, { organisation: 'Quayside' });
      // A sign-in through the provider does not make a session fresh.
      await page.goto('/auth/idp/start');
      await page.getByLabel('E-mail address').fill(email);
      await page.getByRole('button', { name: 'Create and continue' }).click();
      await page.waitForURL(/\/onboarding$/);
      const created = await page.request.post('/api/trpc/organisations.create', { data: { org_name: 'Larch Abroad' } });
      expect(created.status()).toBe(200);

      const { stdout: key } = await service.operator('api-key', 'create', '--name', 'CRM', '--scope', 'MANAGE');
      const headers = { authorization: `Bearer ${key.trim()}` };
      const { users } = await (await request.get(`/api/users?email=${colleague}`, { headers })).json();
      const own = await (await request.get(`/api/users?email=${email}`, { headers })).json();
      const { organisations } = await (await request.get(`/api/users/${own.users[0].id}`, { headers })).json();
      const { id } = organisations.find(({ name }: { name: string }) => name === 'Larch Abroad');
      const data = { user: users[0].id, role: 'viewer' };
      expect((await request.post(`/api/organisations/${id}/members`, { headers, data })).status()).toBe(201);

      await page.goto('/organisation?create');
      await page.getByRole('button', { name: 'Withdraw the request' }).click();
      await expect(page.getByRole('alert')).toContainText('Confirm that it’s you to do this.');
      await page.getByLabel('Your password').fill('not the pass phrase');
      await page.getByRole('button', { name: 'Withdraw the request' }).click();
      await expect(page.getByRole('alert')).toContainText('This password is wrong.');
      await page.getByLabel('Your password').fill(passPhrase);
      await page.getByRole('button', { name: 'Withdraw the request' }).click();
      await expect(page.getByText('The request for Larch Abroad is withdrawn.')).toBeVisible();
    });

    test('an owner reads who did what once the plan has the audit log, filters it, and downloads it', async ({
      page,
      request,
      service,
    }) => {
      const email = await makeOwner(service, request, { organisation: 'Larch & Sons' });
      await signIn(page, email);
      await page.goto('/organisation');
      await page.getByRole('link', { name: 'Audit log' }).click();
      await expect(page.getByText('It comes with Silver and Gold')).toBeVisible();
      await expect(page.getByRole('link', { name: 'See plans' })).toHaveAttribute('href', '/billing#plans');
      expect((await page.request.get('/organisation/audit.csv')).status()).toBe(403);

      const { organisation } = await (await page.request.get('/api/session')).json();
      const agreed = ['--feature', 'audit_log=true', '--reason', 'A trial'];
      expect((await service.operator('override', organisation.slug, ...agreed)).stderr).toBe('');
      await inviteOn(page, 'Viewer', 'Ada');
      await page.goto('/organisation/audit');
      const table = page.getByRole('table', { name: 'Audit log' });
      await expect(table.getByRole('row', { name: /Invitation created/ })).toContainText(email);
      await expect(table.getByRole('row', { name: /override/ })).toContainText('An operator');
      await page.getByLabel('What').selectOption('Invitation created');
      await page.getByRole('button', { name: 'Filter' }).click();
      await expect(page).toHaveURL(/action=invitation-made/);
      await expect(table.getByRole('row', { name: /Invitation created/ })).toBeVisible();
      await expect(table.getByRole('row', { name: /override/ })).toHaveCount(0);
      const href = await page.getByRole('link', { name: 'Download CSV' }).getAttribute('href');
      const file = await (await page.request.get(href ?? '')).text();
      expect(file.trim().split('\r\n')).toHaveLength(2);
      expect(file).toContain(`${email},invitation-made`);
    });

    test('two invitations differ by their notes, and one is revoked', async ({ page, request, service }) => {
      await signIn(page, await makeOwner(service, request));
      await page.goto('/members');
      await page.getByRole('link', { name: 'Invite someone' }).click();
      const dialog = page.getByRole('dialog', { name: 'Invite someone' });
      await dialog.getByLabel('For whom').fill('Mia');
      await dialog.getByRole('button', { name: 'Create invitation link' }).click();
      await expect(page.getByRole('dialog')).toContainText('For Mia.');
      await page.getByRole('link', { name: 'Done' }).click();
      await expect(page.getByRole('dialog')).toHaveCount(0);
      await inviteOn(page, 'Viewer', 'Ada');
      await page.goto('/members');
      await page.getByRole('button', { name: 'Revoke the invitation for Mia' }).click();
      await expect(page.getByText('The invitation is revoked.')).toBeVisible();
      await expect(page.getByRole('button', { name: /^Revoke/ })).toHaveCount(1);
      if (javaScriptEnabled) await expect(page.getByRole('button', { name: /for Ada/ })).toBeFocused();
    });
  });
}

test('members stay a table on a phone, with the day on which each joined', async ({ page, request, service }) => {
  const email = await makeOwner(service, request);
  await signIn(page, email);
  await page.setViewportSize({ width: 320, height: 700 });
  await page.goto('/members');
  const table = page.getByRole('table', { name: /^Members of/ });
  await expect(table.getByRole('columnheader', { name: 'Last seen' })).toHaveCount(1);
  await expect(table.getByRole('rowheader', { name: new RegExp(email) })).toBeVisible();
  await expect(table.getByRole('cell', { name: /Today/ })).toBeVisible();
});

test('the activity lists actions, and a wrong password while signed in is not listed as a sign-in', async ({
  page,
  request,
  service,
}) => {
  await signIn(page, await makeOwner(service, request));
  await page.goto('/organisation?ask=delete');
  await page.getByLabel('Your password').fill('not the pass phrase');
  await page.getByRole('button', { name: 'Delete the organisation' }).click();
  await expect(page.getByRole('alert')).toContainText('This password is wrong.');
  await inviteOn(page);
  await page.goto('/account/security');
  await expect(page.getByText('Wrong password entered while signed in')).toBeVisible();
  await expect(page.getByText('Sign-in with a wrong password')).toHaveCount(0);
  await expect(page.getByText('You invited someone as a member')).toBeVisible();
});
