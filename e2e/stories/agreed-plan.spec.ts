import { makeOwner, sharedOperator, signIn } from '../support/people.ts';
import { buyPlan } from '../support/provider.ts';
import { expect, test } from '../support/service.ts';

test('a plan that was agreed with a customer stays when the lower one that they pay for is cancelled', async ({
  page,
  request,
  service,
}) => {
  await signIn(page, await makeOwner(service, request, { organisation: 'Larch & Sons' }));
  await buyPlan(service, page.request, 'silver');
  const { organisation } = await (await page.request.get('/api/session')).json();
  const agreed = ['--tier', 'gold', '--reason', 'A partner'];
  expect((await service.operator('override', organisation.slug, ...agreed)).stderr).toBe('');

  await page.goto('/billing?ask=cancel');
  const dialog = page.getByRole('dialog', { name: 'Cancel the paid plan?' });
  await expect(dialog).toContainText(/Your paid plan ends on \d+ \w+ \d{4}\./);
  await expect(dialog).not.toContainText('Free');
  await dialog.getByRole('button', { name: 'Cancel it' }).click();

  const line = /£24 \/ month\. Your paid plan ends on \d+ \w+ \d{4}\./;
  await expect(page.getByText(line)).toBeVisible();
  await expect(page.getByText('Agreed with us: Gold')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Keep the paid plan' })).toBeVisible();
  await page.goto('/');
  await expect(page.getByRole('heading', { name: /^Your paid plan ends on/ })).toBeVisible();
  await expect(page.getByText('Then you move to')).toBeHidden();

  await signIn(page, await sharedOperator(service, request));
  await page.goto(`/operator/organisations/${organisation.id}`);
  await expect(page.getByText('Until it is ended')).toBeVisible();
  await expect(page.getByText(/Gold, ends/)).toHaveCount(0);
});
