import { inviteOn, linkFor, makeOwner, newEmail, passPhrase, signIn } from '../support/people.ts';
import { send } from '../support/raw-request.ts';
import { approvedDomain, expect, type Service, test } from '../support/service.ts';

/** Returns an address that is approved without an operator. */
const newAddress = () => newEmail('person', approvedDomain);

const chosen = 'chosen on the page itself';
const json = { 'content-type': 'application/json' };

/** Signs up in another browser, and returns the link in the mail. */
async function signUpElsewhere(service: Service, { email = newAddress(), org_name = '' } = {}): Promise<string> {
  const body = JSON.stringify({ email, password: passPhrase, org_name });
  await send(service, '/api/signup', { method: 'POST', headers: json, body });
  return linkFor(service, email);
}

async function statusOfSignIn(service: Service, email: string, password: string): Promise<number> {
  const body = JSON.stringify({ email, password });
  return (await send(service, '/api/login', { method: 'POST', headers: json, body })).status;
}

test('a used link offers sign-in beside its remaining actions, and each page that it opened stays valid', async ({
  page,
  service,
}) => {
  const link = await signUpElsewhere(service);
  const scanner = () => send(service, new URL(link).pathname + new URL(link).search);
  expect((await scanner()).status).toBe(200);

  await page.goto(link);
  await expect(page.getByRole('heading', { name: 'Already confirmed' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Sign in' })).toHaveAttribute('href', '/login');
  expect((await scanner()).status).toBe(400);
  await page.getByRole('button', { name: 'Approve my organisation' }).click();
  await page.getByLabel('New password').fill(chosen);
  await page.getByRole('button', { name: 'Set the password' }).click();
  await expect(page).toHaveURL('/login');

  await page.goto(link);
  await expect(page.getByRole('button', { name: 'Approve my organisation' })).toHaveCount(0);
  await expect(page.getByRole('link', { name: 'Sign in' })).toBeVisible();
});

test('a prefetch gets 503 and does not consume the link', async ({ service }) => {
  const { pathname, search } = new URL(await signUpElsewhere(service));
  for (const name of ['sec-purpose', 'purpose', 'x-moz']) {
    const answer = await send(service, pathname + search, { headers: { [name]: 'prefetch' } });
    expect([answer.status, answer.headers['cache-control']]).toEqual([503, expect.stringContaining('no-store')]);
  }
  expect((await send(service, pathname + search)).status).toBe(200);
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('a link that is opened in another browser asks for a password and the organisation’s name, and shows errors', async ({
    page,
    service,
  }) => {
    const email = newAddress();
    const link = await signUpElsewhere(service, { email, org_name: 'Typed Ltd' });
    expect((await page.goto(link))?.status()).toBe(200);
    await expect(page.locator('main')).toHaveAttribute('data-ok', 'true');
    await expect(page.locator('main')).toHaveAttribute('data-awaiting-approval', 'true');
    await expect(page.locator('script')).toHaveCount(0);
    // Nobody's words stand on the page in another browser.
    await expect(page.getByLabel('Organisation')).toHaveValue('');
    await page.getByLabel('Organisation').fill('Edited Ltd');
    await page.getByLabel('New password').fill('short');
    await page.getByRole('button', { name: 'Set the password' }).click();
    await expect(page.getByRole('alert')).toBeVisible();
    await expect(page.getByLabel('Organisation')).toHaveValue('Edited Ltd');
    await page.getByLabel('New password').fill(chosen);
    await page.getByRole('button', { name: 'Set the password' }).click();
    await expect(page).toHaveURL('/login');
    expect(await statusOfSignIn(service, email, passPhrase)).toBe(401);
    expect(await statusOfSignIn(service, email, chosen)).toBe(200);
  });

  test('the browser that signed up can keep its password after a mail scanner opened the link', async ({
    page,
    service,
  }) => {
    const email = newAddress();
    await page.request.post('/api/signup', { data: { email, password: passPhrase, org_name: 'Kept Ltd' } });
    const link = await linkFor(service, email);
    expect((await send(service, new URL(link).pathname + new URL(link).search)).status).toBe(200);
    expect(await statusOfSignIn(service, email, passPhrase)).toBe(401);

    expect((await page.goto(link))?.status()).toBe(400);
    await page.getByRole('button', { name: 'Use the password I chose' }).click();
    await expect(page).toHaveURL('/login');
    expect(await statusOfSignIn(service, email, passPhrase)).toBe(200);
  });

  test('a forgotten password is replaced from the sign-in page', async ({ page, request, service }) => {
    const email = await makeOwner(service, request);
    await page.goto('/login');
    await page.getByRole('button', { name: 'Forgot your password?' }).click();
    await expect(page).toHaveURL('/signup?forgot');
    await page.getByRole('button', { name: 'Send the link' }).click();
    await expect(page.getByRole('alert')).toBeVisible();
    await page.goto('/login');
    await page.getByLabel('E-mail', { exact: true }).fill(email);
    await page.getByRole('button', { name: 'Forgot your password?' }).click();
    await expect(page.locator('main')).toContainText(`If ${email} has an account`);
    await expect(page.getByRole('heading', { name: 'Check your e-mail' })).toBeVisible();

    // At most one mail a minute is sent to an address; a sign-up with the address sends one too.
    const first = await linkFor(service, email);
    await request.post('/api/signup', { data: { email, password: passPhrase } });
    await expect.poll(() => linkFor(service, email)).not.toBe(first);
    expect((await page.goto(await linkFor(service, email)))?.status()).toBe(200);
    await expect(page.locator('main')).toHaveAttribute('data-ok', 'true');
    await page.getByLabel('New password').fill(chosen);
    await page.getByRole('button', { name: 'Set the password' }).click();
    await expect(page).toHaveURL('/login');
    await page.getByLabel('E-mail', { exact: true }).fill(email);
    await page.getByLabel('Password', { exact: true }).fill(chosen);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page).toHaveURL('/onboarding');
    expect((await page.goto('/api/session'))?.status()).toBe(200);
  });

  test('keys that are to stay are still ticked after a password that is refused', async ({
    page,
    request,
    service,
  }) => {
    const email = await makeOwner(service, request);
    await signIn({ request }, email);
    const { organisation } = await (await request.get('/api/session')).json();
    const made = { organisation_id: organisation.id, name: 'Till' };
    const key = await (await request.post('/api/trpc/keys.create', { data: made })).json();
    const first = await linkFor(service, email);
    await page.request.post('/api/signup', { data: { email, password: passPhrase } });
    await expect.poll(() => linkFor(service, email)).not.toBe(first);
    await page.goto(await linkFor(service, email));
    const keeps = page.getByLabel('Keep these API keys working');
    await keeps.check();
    await page.getByLabel('New password').fill('short');
    await page.getByRole('button', { name: 'Set the password' }).click();
    await expect(page.getByRole('alert')).toBeVisible();
    await expect(keeps).toBeChecked();
    await page.getByLabel('New password').fill(chosen);
    await page.getByRole('button', { name: 'Set the password' }).click();
    await expect(page).toHaveURL('/login');
    const authorization = `Bearer ${key.result.data.key}`;
    expect(
      (await send(service, `/api/organisations/${organisation.id}/entitlements`, { headers: { authorization } }))
        .status,
    ).toBe(200);
  });
});

test('the pages of a link send no referrer and are not stored, for every result', async ({ service }) => {
  const { pathname, search } = new URL(await signUpElsewhere(service));
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' };
  const answers = {
    opened: [await send(service, pathname + search), 200],
    used: [await send(service, pathname + search), 400],
    unknown: [await send(service, '/verify?token=x'), 400],
    head: [await send(service, pathname + search, { method: 'HEAD' }), 200],
    approval: [await send(service, '/verify?/approve', { method: 'POST', headers, body: 'token=x' }), 400],
    kept: [await send(service, '/verify?/keep', { method: 'POST', headers, body: 'token=x' }), 400],
    address: [await send(service, '/verify?/address', { method: 'POST', headers, body: 'token=x' }), 400],
    password: [await send(service, '/verify?/password', { method: 'POST', headers, body: 'token=x&password=y' }), 400],
  } as const;
  for (const [what, [answer, status]] of Object.entries(answers)) {
    expect([what, answer.status]).toEqual([what, status]);
    expect([what, answer.headers['referrer-policy']]).toEqual([what, 'no-referrer']);
    expect([what, answer.headers['cache-control']]).toEqual([what, expect.stringContaining('no-store')]);
  }
});

test('a page with a token in its address changes its language, and the token is sent to that page alone', async ({
  page,
  browser,
  service,
}) => {
  await signIn(page, await makeOwner(service, page.request));
  const invitation = await inviteOn(page);
  const context = await browser.newContext({ baseURL: service.baseUrl, javaScriptEnabled: false });
  const visitor = await context.newPage();
  const requests: string[] = [];
  visitor.on('request', (request) => {
    if (!request.isNavigationRequest()) return;
    requests.push(`${request.method()} ${request.url()}`);
    expect(request.headers().referer).toBeUndefined();
  });

  const email = newEmail();
  const signUp = await page.request.post('/api/signup', {
    data: { email, password: passPhrase, org_name: 'Quayside' },
  });
  expect(signUp.status()).toBe(200);
  for (const address of [
    invitation,
    await linkFor(service, email),
    `${service.baseUrl}/verify?token=unknown`,
    `${service.baseUrl}/password?token=no`,
  ]) {
    requests.length = 0;
    await visitor.goto(address);
    await visitor.locator('summary', { hasText: 'English' }).click();
    await visitor.getByRole('button', { name: 'Deutsch' }).click();
    await expect(visitor.locator('html')).toHaveAttribute('lang', 'de');
    await expect(visitor).toHaveURL(address);
    await visitor.locator('summary', { hasText: 'Deutsch' }).click();
    await visitor.getByRole('button', { name: 'English' }).click();
    await expect(visitor.locator('html')).toHaveAttribute('lang', 'en');
    const change = [`POST ${service.baseUrl}/language`, `GET ${address}`];
    expect(requests).toEqual([`GET ${address}`, ...change, ...change]);
  }
  await visitor.goto(invitation);
  await expect(visitor.getByRole('button', { name: 'Create an account' })).toBeVisible();
  await context.close();
});
