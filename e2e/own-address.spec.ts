import { linkFor, makeOwner, newEmail, passPhrase, signIn } from './people.ts';
import { expect, test } from './service.ts';

test('an address is changed by the link that goes to the new one', async ({ page, request, service }) => {
  const email = await makeOwner(service, request, { organisation: 'Moving House' });
  const taken = await makeOwner(service, request);
  const wanted = newEmail('moved');
  await signIn(page, email);
  await request.post('/api/login', { data: { email, password: passPhrase } });
  await page.goto('/account');
  const password = page.locator('#address-password');

  await test.step('a wrong password is refused at its own field, and what was typed stays', async () => {
    await page.getByLabel('New address').fill(wanted);
    await password.fill('not the pass phrase');
    await page.getByRole('button', { name: 'Send the link' }).click();
    await expect(page.getByRole('alert').getByRole('link')).toHaveAttribute('href', '#address-password');
    await expect(page.getByLabel('New address')).toHaveValue(wanted);
    await expect(page.getByLabel('New password')).not.toHaveAttribute('aria-invalid', 'true');
  });

  await test.step('an address that somebody has gets the same words', async () => {
    const words = 'A link is on its way to the new address, if it can become yours.';
    for (const each of [taken, wanted]) {
      await page.goto('/account');
      await page.getByLabel('New address').fill(each);
      await password.fill(passPhrase);
      await page.getByRole('button', { name: 'Send the link' }).click();
      await expect(page.getByText(words)).toBeVisible();
    }
  });

  await test.step('opened, it changes the address, and other browsers are signed out', async () => {
    await page.goto(await linkFor(service, wanted));
    await expect(page.locator('main')).toHaveAttribute('data-ok', 'true');
    await expect(page.getByRole('heading', { name: 'Address changed' })).toBeVisible();
    await page.getByRole('link', { name: 'Go on' }).click();
    await expect(page).toHaveURL('/');
    expect((await request.get('/api/session')).status()).toBe(401);
    expect((await request.post('/api/login', { data: { email, password: passPhrase } })).status()).toBe(401);
    expect((await request.post('/api/login', { data: { email: wanted, password: passPhrase } })).status()).toBe(200);
  });
});
