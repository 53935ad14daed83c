import { openDatabase } from '@gatehouse/api/platform/db/client';
import { freePort } from '@gatehouse/api/testing/free-ports';
import { makeOwner, signIn } from '../support/people.ts';
import { startWorld } from '../support/processes/production-world.ts';
import { startServed } from '../support/processes/served.ts';
import { expect, test } from '../support/service.ts';

test('members are listed fifty a page and found by a part of a name, with times as their distance', async ({
  browser,
}) => {
  const port = await freePort();
  const baseUrl = `http://localhost:${port}`;
  const world = await startWorld(baseUrl);
  const node = await startServed(port, world.environment);
  const page = await browser.newPage({ baseURL: baseUrl });
  try {
    const email = await makeOwner(world.asService(node), page.request);
    const { sql, close } = openDatabase({ url: world.databaseUrl, pool: 1, prepare: true });
    // The service stores times in milliseconds.
    await sql`
      with added as (
        insert into users (id, email, name, email_verified_at, created_at)
        select gen_random_uuid(), 'member' || n || '@larch.example', 'Member ' || n, at, at
        from generate_series(100, 159) n, date_trunc('milliseconds', now()) at returning id, created_at)
      insert into memberships (user_id, organisation_id, role, created_at)
      select added.id, organisations.id, 'member', added.created_at from added, organisations`;
    await close();
    await signIn(page, email);
    await page.goto('/members');

    const rows = page.getByRole('row').filter({ hasText: '@' });
    await expect(rows).toHaveCount(50);
    await page.getByRole('link', { name: 'Next page' }).click();
    await expect(rows).toHaveCount(11);
    await page.getByRole('link', { name: 'First page' }).click();
    await expect(rows).toHaveCount(50);

    await page.getByRole('searchbox', { name: 'Search for a name or e-mail' }).fill('ber 157');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await expect(rows).toHaveCount(1);
    await expect(rows).toContainText('member157@larch.example');
    await expect(page.getByText('1 found')).toBeVisible();
    await page.getByRole('searchbox').fill('%');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await expect(page.getByText('No members found')).toBeVisible();

    await page.goto('/account/security');
    await expect(page.locator('time').filter({ hasText: /^(just now|\d+ minutes? ago)$/ })).not.toHaveCount(0);
  } finally {
    await page.close();
    await node.stop();
    await world.stop();
  }
});
