import { makeOwner, sharedOperator, signIn } from '../support/people.ts';
import { expect, test } from '../support/service.ts';

test('an operator decides requests by keyboard shortcuts, which can be turned off', async ({
  page,
  request,
  service,
}) => {
  for (const name of ['Ash', 'Beech', 'Cedar']) {
    await makeOwner(service, request, { approved: false, organisation: `Thicket ${name}` });
  }
  await signIn(page, await sharedOperator(service, request));
  await page.goto('/operator?search=Thicket');
  await expect(page.getByRole('button', { name: /Commands/ })).toBeVisible();

  await test.step('j and k move the focus, a approves, d opens the dialog to decline', async () => {
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await expect(page.getByRole('row', { name: /Thicket Ash/ })).toBeFocused();
    await page.keyboard.press('a');
    await expect(page.getByRole('row', { name: /Thicket Ash/ })).toBeHidden();
    await expect(page.getByRole('button', { name: /^Approve Thicket Beech/ })).toBeFocused();
    await page.waitForTimeout(400);
    await page.keyboard.press('d');
    await expect(page.getByRole('dialog', { name: 'Decline Thicket Beech?' })).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('link', { name: /^Decline Thicket Beech/ })).toBeFocused();
  });

  await test.step('typing in a field is not a shortcut', async () => {
    await page.getByRole('searchbox').fill('');
    await page.getByRole('searchbox').pressSequentially('jad?');
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await expect(page.getByRole('searchbox')).toHaveValue('jad?');
    // It is searched for while it is typed. What follows needs the rows again, not an answer that is still to come.
    await expect(page.getByText('0 found')).toBeVisible();
    await page.getByRole('searchbox').fill('Thicket');
    await expect(page.getByRole('link', { name: /^Decline Thicket Beech/ })).toBeVisible();
  });

  await test.step('? lists the shortcuts and turns them off', async () => {
    await page.getByRole('link', { name: /^Decline Thicket Beech/ }).focus();
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await expect(help.getByText('Approve the focused request')).toBeVisible();
    await help.getByLabel('Use single-key shortcuts in this browser').uncheck();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('link', { name: /^Decline Thicket Beech/ })).toBeFocused();
    await page.keyboard.press('d');
    await expect(page.getByRole('dialog')).toHaveCount(0);
  });

  await test.step('the command menu leads to a page, and searches', async () => {
    await page.keyboard.press('Control+K');
    await page.getByRole('combobox').fill('decided');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('heading', { name: 'Decided requests' })).toBeVisible();
    await page.getByRole('button', { name: 'Undo the decision about Thicket Ash' }).click();
    await expect(page.getByRole('status').getByText('Thicket Ash waits for a decision again.')).toBeVisible();
    await page.keyboard.press('Control+K');
    await page.getByRole('combobox').fill('Thicket Cedar');
    await page.getByRole('option', { name: 'Find organisations: Thicket Cedar' }).click();
    await expect(page.getByRole('link', { name: 'Thicket Cedar' })).toBeVisible();
  });
});
