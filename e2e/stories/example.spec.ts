import { expect } from '@playwright/test';
import { expectAccessible } from '../support/browser/accessibility.ts';
import { addNote, signInAtNotes, test } from '../support/example.ts';
import { inviteOn, linkFor, makeOwner, newEmail, passPhrase, signInOnPage } from '../support/people.ts';
import { subscriptionControls } from '../support/provider.ts';

test('a product uses sign-in, limits, plans, keys and members of the service', async ({
  browser,
  page,
  request,
  example,
}) => {
  const { service, notesUrl } = example;
  const owner = await makeOwner(service, request, { organisation: 'Larch & Sons' });

  await test.step('its pages lead to sign-in and back', async () => {
    await signInAtNotes(page, example, owner);
    await expect(page.getByRole('heading', { name: 'Notes of Larch & Sons' })).toBeVisible();
    await expect(page.getByText('Free plan: 0 of 3 notes')).toBeVisible();
  });

  await test.step('the plan’s limit refuses the fourth note with a sentence and a link to the plans', async () => {
    for (const text of ['Call the <b>mill</b>', 'Order larch', 'Send the invoice']) {
      await addNote(page, text);
      await expect(page.getByRole('listitem').filter({ hasText: text })).toBeVisible();
    }
    await addNote(page, 'One too many');
    await expect(page.getByRole('alert')).toContainText('The Free plan allows 3 notes.');
    await expect(page.getByLabel('New note')).toHaveValue('One too many');
    await expectAccessible(page, 'the product with a refused note');
    await page.getByRole('link', { name: 'See the plans' }).click();
    await expect(page).toHaveURL('/billing');
  });

  await test.step('/billing shows the same number, and no chart of a single day', async () => {
    await expect(page.getByText('Note limit reached')).toBeVisible();
    await expect(page.getByRole('figure')).toHaveCount(0);
  });

  await test.step('after an upgrade the product accepts notes again', async () => {
    await page.getByRole('button', { name: 'Choose Silver' }).click();
    await page.waitForURL(`${service.sandboxUrl}/**`);
    await page.getByLabel(/4242/).first().check();
    await page.getByRole('button', { name: /^Pay/ }).click();
    await expect(page.getByText('You are on Silver')).toBeVisible();
    await (await subscriptionControls(service, page.request)).everythingDelivered();
    await page.goto(notesUrl);
    await addNote(page, 'One more after all');
    await expect(page.getByText('Silver plan: 4 of 100 notes')).toBeVisible();
  });

  await test.step('a note may have as many characters as its field accepts, line breaks included', async () => {
    await addNote(page, `${'line\n'.repeat(398)}the end`);
    await expect(page.getByRole('listitem').first()).toContainText('the end');
  });

  const { organisation } = await (await page.request.get('/api/session')).json();
  await test.step('a program uses its API with a key of the organisation, and no other key', async () => {
    const made = await service.operator('api-key', 'create', '--name', 'App', '--organisation', organisation.slug);
    const ask = (key: string, data?: object) =>
      request.fetch(`${notesUrl}/api/notes`, {
        headers: { authorization: `Bearer ${key}` },
        ...(data && { method: 'POST', data }),
      });
    const key = made.stdout.trim();
    const { notes } = await (await ask(key)).json();
    expect(notes.map(({ text }: { text: string }) => text)).toContain('Call the <b>mill</b>');
    expect((await ask(key, { text: 'By a key that reads' })).status()).toBe(403);
    expect((await ask(`${key.slice(0, -6)}AAAAAA`)).status()).toBe(401);
    const writes = await service.operator(
      ...['api-key', 'create', '--name', 'Bot', '--scope', 'WRITE', '--organisation', organisation.slug],
    );
    expect((await ask(writes.stdout.trim(), { text: 'By a program' })).status()).toBe(200);
    await page.goto(notesUrl);
    await expect(page.getByText('By a program')).toBeVisible();
  });

  await test.step('a removed member loses access with the next request', async () => {
    const theirs = await (await browser.newContext({ baseURL: service.baseUrl })).newPage();
    await page.goto('/');
    const invitation = await inviteOn(page);
    const email = newEmail('invited');
    await theirs.goto(invitation);
    await theirs.getByRole('button', { name: 'Create an account' }).click();
    await theirs.getByLabel('E-mail', { exact: true }).fill(email);
    await theirs.getByLabel('Password', { exact: true }).fill(passPhrase);
    await theirs.getByRole('button', { name: /^Create (organisation|account)$/ }).click();
    await expect(theirs.getByRole('heading', { name: 'Check your e-mail' })).toBeVisible();
    await theirs.goto(await linkFor(service, email));
    // An account that was made by an invitation joins at its first sign-in.
    await signInOnPage(theirs, email);
    await expect(theirs).toHaveURL('/');
    await theirs.goto(notesUrl);
    await expect(theirs.getByText('One more after all')).toBeVisible();

    await page.goto('/members');
    const row = page.getByRole('row').filter({ hasText: email });
    await row.getByRole('link', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await expect(page.getByText(`${email} is no longer a member.`)).toBeVisible();
    expect((await theirs.goto(notesUrl))?.status()).toBe(403);
    await expect(theirs.getByText('One more after all')).toHaveCount(0);
    await theirs.context().close();
  });
});
