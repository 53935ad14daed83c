import { expectFitsWindow } from '../support/browser/page-width.ts';
import { makeOwner, signIn } from '../support/people.ts';
import { buyPlan } from '../support/provider.ts';
import { expect, test } from '../support/service.ts';

test('on a phone the current plan is first, and the others show only their differences', async ({
  page,
  request,
  service,
}) => {
  await signIn(page, await makeOwner(service, request));
  await buyPlan(service, page.request, 'silver');
  await page.goto('/billing');
  const plans = page.getByRole('region', { name: 'Plans' });
  const card = (name: string) =>
    plans.getByRole('listitem').filter({ has: page.getByRole('heading', { name, exact: true }) });
  const top = async (name: string) => (await card(name).boundingBox())?.y ?? Number.NaN;
  const lines = (name: string) => card(name).getByRole('listitem').filter({ visible: true });

  await test.step('on a wide screen the plans are in order, each with everything it includes', async () => {
    expect(await top('Silver')).toBe(await top('Free'));
    await expect(lines('Gold')).toHaveText(
      ['Unlimited members', '200 projects', '1,000,000 API calls a month', 'Audit log'],
      { useInnerText: true },
    );
  });

  await test.step('on a phone the current plan is first', async () => {
    await page.setViewportSize({ width: 320, height: 700 });
    expect(await top('Silver')).toBeLessThan(await top('Free'));
    expect(await top('Free')).toBeLessThan(await top('Gold'));
    await expect(lines('Silver')).toHaveCount(4);
    await expect(lines('Free')).toHaveText(
      [
        /^2 members\s+instead of 10$/,
        /^3 projects\s+instead of 25$/,
        /^1,000 API calls a month\s+instead of 50,000$/,
        'No audit log',
      ],
      { useInnerText: true },
    );
    await expectFitsWindow(page, '/billing');
  });
});

test('only a counter says when it resets', async ({ page, request, service }) => {
  await signIn(page, await makeOwner(service, request));
  await page.goto('/billing');
  const usage = page.getByRole('region', { name: 'Usage' }).getByRole('listitem');
  await expect(usage.filter({ hasText: 'API calls' })).toHaveText(/1,000 left, resets 1 \w+$/);
  await expect(usage.filter({ hasText: 'Members' })).toHaveText(/Room for 1 more$/);
  await expect(page.getByText(/resets/i)).toHaveCount(1);
});
