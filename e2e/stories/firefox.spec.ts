import { hasFirefox, startFirefox } from '../support/browser/firefox.ts';
import { linkFor, makeOwner, newEmail, passPhrase } from '../support/people.ts';
import { test } from '../support/service.ts';

test('the story runs in Firefox: sign-up, approval, sign-in, purchase and cancellation', async ({
  request,
  service,
}) => {
  test.skip(!hasFirefox, 'Firefox is not installed (Debian: apt-get install firefox-esr).');
  const email = newEmail('owner');
  const operator = await makeOwner(service, request, { operator: true });
  const firefox = await startFirefox();

  try {
    const page = await firefox.newTab();
    await page.goto(`${service.baseUrl}/signup`);
    await page.fill('Organisation', 'Larch & Sons');
    await page.fill('E-mail', email);
    await page.fill('Password', passPhrase);
    await page.click('Create organisation');
    await page.waitFor('Check your e-mail');
    await page.goto(await linkFor(service, email));
    await page.waitFor('E-mail confirmed');

    const operatorTab = await firefox.newTab();
    await operatorTab.goto(`${service.baseUrl}/login`);
    await operatorTab.fill('E-mail', operator);
    await operatorTab.fill('Password', passPhrase);
    await operatorTab.click('Sign in');
    await operatorTab.waitFor('', '/onboarding');
    await operatorTab.click('Continue');
    await operatorTab.waitFor('', '/');
    await operatorTab.click('Operator');
    await operatorTab.click(`Approve Larch & Sons, ${email}`);
    await operatorTab.waitFor('Larch & Sons is approved');

    await page.goto(`${service.baseUrl}/login`);
    await page.fill('E-mail', email);
    await page.fill('Password', passPhrase);
    await page.click('Sign in');
    await page.waitFor('', '/onboarding');
    await page.click('Continue');
    await page.waitFor('Larch & Sons', '/');

    await page.click('Billing');
    await page.click('Choose Silver');
    await page.click('Pay');
    await page.waitFor('You are on Silver', '/billing');

    await page.click('Cancel plan');
    await page.waitFor('Cancel Silver?');
    await page.click('Cancel Silver');
    await page.waitFor('then Free');
    await page.click('Keep Silver');
    await page.waitFor('Renews on');
  } finally {
    await firefox.stop();
  }
});
