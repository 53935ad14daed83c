import { linkFor, newEmail, passPhrase } from './people.ts';
import { send } from './raw-request.ts';
import { test as base, expect, type Service, startService } from './service.ts';

/** Addresses of company.example are approved without an operator. */
const test = base.extend<object, { service: Service }>({
  service: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures that are asked for.
    async ({}, use) => {
      const service = await startService({ environment: { APPROVED_DOMAINS: 'company.example' } });
      await use(service);
      await service.stop();
    },
    { scope: 'worker', timeout: 60_000 },
  ],
});

/** The link of somebody who signed up in another browser. */
async function signUpElsewhere(service: Service): Promise<string> {
  const body = JSON.stringify({ email: newEmail(), password: passPhrase });
  await send(service, '/api/signup', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  return linkFor(service, JSON.parse(body).email);
}

test('a used link says where to sign in beside what it still offers, and each page stays good', async ({
  page,
  service,
}) => {
  const link = await signUpElsewhere(service);
  const scanner = () => send(service, new URL(link).pathname + new URL(link).search);
  expect((await scanner()).status).toBe(200);

  await page.goto(link);
  await expect(page.getByRole('heading', { name: 'Confirmed already' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Sign in' })).toHaveAttribute('href', '/login');
  expect((await scanner()).status).toBe(400);
  await page.getByRole('button', { name: 'Approve my organisation' }).click();
  await expect(page).toHaveURL('/login?done=approved');

  await page.goto(link);
  await expect(page.getByRole('button', { name: 'Approve my organisation' })).toHaveCount(0);
  await expect(page.getByRole('link', { name: 'Sign in' })).toBeVisible();
});

test('the page of a link tells no other site its address, whatever came of it', async ({ service }) => {
  const { pathname, search } = new URL(await signUpElsewhere(service));
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' };
  const answers = {
    opened: [await send(service, pathname + search), 200],
    used: [await send(service, pathname + search), 400],
    dead: [await send(service, '/verify?token=x'), 400],
    looked: [await send(service, pathname + search, { method: 'HEAD' }), 200],
    approval: [await send(service, '/verify?/approve', { method: 'POST', headers, body: 'token=x' }), 400],
    password: [await send(service, '/verify?/password', { method: 'POST', headers, body: 'token=x&password=y' }), 400],
  } as const;
  for (const [what, [answer, status]] of Object.entries(answers)) {
    expect([what, answer.status]).toEqual([what, status]);
    expect([what, answer.headers['referrer-policy']]).toEqual([what, 'no-referrer']);
    expect([what, answer.headers['cache-control']]).toEqual([what, expect.stringContaining('no-store')]);
  }
});
