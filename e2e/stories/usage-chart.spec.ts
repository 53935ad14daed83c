import { dayMilliseconds } from '@gatehouse/api/platform/durations';
import { expectAccessible } from '../support/browser/accessibility.ts';
import { makeOwner, signIn } from '../support/people.ts';
import { expect, test } from '../support/service.ts';

test('a meter of the billing page has a chart with a line for the limit, and its numbers as a table', async ({
  page,
  request,
  service,
}) => {
  await signIn(page, await makeOwner(service, request));
  const { organisation } = await (await page.request.get('/api/session')).json();
  const { stdout: key } = await service.operator('api-key', 'create', '--name', 'Usage', '--scope', 'WRITE');
  const report = async (records: { meter: string; amount: number; daysAgo: number }[]) => {
    const answer = await page.request.post('/api/usage/report', {
      headers: { authorization: `Bearer ${key.trim()}` },
      data: {
        records: records.map(({ daysAgo, ...record }) => ({
          ...record,
          organisation: organisation.id,
          idempotency_key: `${record.meter} ${daysAgo}`,
          at: new Date(Date.now() - daysAgo * dayMilliseconds).toISOString(),
        })),
      },
    });
    expect(answer.status()).toBe(200);
  };
  const chart = page.getByRole('figure', { name: /^API calls/ });

  await report([{ meter: 'api_calls', amount: 30, daysAgo: 0 }]);
  await page.goto('/billing');
  await expect(page.getByText('30', { exact: true })).toBeVisible();
  await expect(chart).toHaveCount(0);

  await report([1, 2, 3].map((daysAgo) => ({ meter: 'api_calls', amount: 100, daysAgo })));
  await page.reload();
  await expect(chart).toContainText('330 in total');
  await chart.getByText('Show the numbers').click();
  await expect(chart.getByRole('row')).toHaveCount(31);
  await expect(chart.getByRole('row').nth(1)).toContainText('30');
  await expectAccessible(page, 'billing with the numbers of a chart');

  // On the first day of a month its total is one bar, which says no more than the meter.
  if (new Date().getUTCDate() > 1) {
    await expect(chart.locator('rect').last()).toBeVisible();
    await expect(chart.locator('line')).toHaveCount(1);
    await page.emulateMedia({ forcedColors: 'active' });
    const [baseLine, bars] = await chart.locator('svg').evaluate((svg) => {
      const { borderBottomColor, color } = getComputedStyle(svg);
      return [borderBottomColor, color];
    });
    expect(baseLine).toBe(bars);
  }
  await expect(page.locator('main .bg-fill')).toHaveCount(1);
});
