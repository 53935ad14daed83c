import { makeOwner, signIn } from '../support/people.ts';
import { expect, test } from '../support/service.ts';

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? 'with JavaScript' : 'without JavaScript', () => {
    test.use({ javaScriptEnabled });

    test('an administrator creates a key, a service uses it, and once revoked it is refused', async ({
      page,
      request,
      service,
      playwright,
    }) => {
      const email = await makeOwner(service, request);
      await signIn(page, email);
      await page.goto('/organisation');
      await page.getByRole('link', { name: 'API keys' }).click();
      await expect(page.getByText('No API keys yet')).toBeVisible();
      await page.getByRole('button', { name: 'Create key' }).click();
      await expect(page.getByRole('alert')).toContainText('Enter a name.');
      await page.getByLabel('Name').fill('Worker');
      await page.getByRole('button', { name: 'Create key' }).click();
      const key = await page.getByLabel('The new API key').inputValue();
      expect(key).toMatch(/^gh_test_/);
      await expect(page.getByLabel('Name')).toHaveValue('');

      const worker = await playwright.request.newContext({
        baseURL: service.baseUrl,
        extraHTTPHeaders: { authorization: `Bearer ${key}` },
      });
      const changes = await worker.get('/api/changes');
      expect([changes.status(), Object.keys(await changes.json())]).toEqual([200, ['changes', 'next']]);

      await page.goto('/keys');
      await expect(page.getByText('last used')).toBeVisible();
      expect(await page.content()).not.toContain(key);
      await page.getByRole('link', { name: 'Revoke Worker' }).click();
      await page.getByRole('button', { name: 'Revoke key' }).click();
      await expect(page.getByText('Revoked', { exact: true })).toBeVisible();
      expect((await worker.get('/api/changes')).status()).toBe(401);
      await worker.dispose();
    });
  });
}
