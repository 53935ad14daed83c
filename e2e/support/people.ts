import { randomBytes } from 'node:crypto';
import { type APIRequestContext, expect, type Page } from '@playwright/test';
import type { Service } from './service.ts';

export const passPhrase = 'a long enough pass phrase';

/** Names of organisations that any visitor can sign up with: 100 characters without a space, right to left, emoji. */
export const difficultNames = [`${'Unbreakable'.repeat(9)}!`, 'شركة النور للبصريات', '🦊 Fox 🦊 Works 🦊'];

export function newEmail(name = 'person', domain = 'company.example'): string {
  return `${name}-${randomBytes(4).toString('hex')}@${domain}`;
}

/** Returns the newest verification link in the sandbox's mailbox. */
export async function linkFor(service: Service, email: string, { timeoutSeconds = 30 } = {}): Promise<string> {
  let link: string | undefined;
  await expect
    .poll(
      async () => {
        const answer = await fetch(`${service.sandboxUrl}/mailbox/messages?to=${encodeURIComponent(email)}`);
        const [mail] = (await answer.json()) as { links: string[] }[];
        link = mail?.links.find((each) => each.includes('/verify?token='));
        return link;
      },
      // Most mails come a quarter of a second after the sign-up, and most tests wait for some; those of a burst take longer.
      { timeout: timeoutSeconds * 1000, intervals: [100, 50, 50, 50, 50, 50, 100, 250] },
    )
    .toBeTruthy();
  return link ?? '';
}

/** Returns the Cookie header with the cookies that a response sets. */
export function cookiesOf({ headers }: { headers: { 'set-cookie'?: string[] | undefined } }): string {
  return (headers['set-cookie'] ?? []).map((each) => each.split(';')[0]).join('; ');
}

/** Creates an owner by sign-up, the link in the mail and, unless `approved` is false, approval: by requests, without a page. */
export async function makeOwner(
  service: Service,
  request: APIRequestContext,
  {
    approved = true,
    operator = false,
    organisation = 'Larch & Sons',
    email = newEmail(operator ? 'operator' : 'owner'),
  } = {},
): Promise<string> {
  const data = { email, password: passPhrase, org_name: organisation };
  expect((await request.post('/api/signup', { data })).status()).toBe(200);
  expect((await request.get(await linkFor(service, email))).status()).toBe(200);
  if (operator) expect((await service.operator('grant', email)).stderr).toBe('');
  else if (approved) await service.approve(email);
  return email;
}

const operators = new WeakMap<Service, Promise<string>>();

/**
 * Returns the address of an operator whom all tests of a service share, and creates it at the first call. Saves the other
 * tests the processes of the admin command. A test about an operator's own account creates one by `makeOwner`.
 */
export function sharedOperator(service: Service, request: APIRequestContext): Promise<string> {
  const known = operators.get(service) ?? makeOwner(service, request, { operator: true, organisation: 'Front desk' });
  operators.set(service, known);
  return known;
}

/** Creates an invitation on the members page of a signed-in user and returns its link. */
export async function inviteOn(page: Page, role = 'Member', note = ''): Promise<string> {
  await page.goto('/members?invite');
  await page.getByLabel('For whom').fill(note);
  await page.getByLabel('Role', { exact: true }).selectOption(role);
  await page.getByRole('button', { name: 'Create invitation link' }).click();
  return page.getByLabel('The invitation’s link').inputValue();
}

/**
 * Signs in the browser of a page and completes onboarding, by requests: the page stays where it is. Saves a test that is
 * not about sign-in two pages and their scripts.
 */
export async function signIn({ request }: Pick<Page, 'request'>, email: string): Promise<void> {
  const signedIn = await request.post('/api/login', { data: { email, password: passPhrase } });
  expect(signedIn.status(), await signedIn.text()).toBe(200);
  const isApproved = (await request.get('/api/session')).ok();
  if (isApproved) expect((await request.post('/api/trpc/accounts.onboard', { data: {} })).status()).toBe(200);
}

/** Signs in on the page, and completes onboarding at the first sign-in. Follows an invitation that was opened before. */
export async function signInOnPage(page: Page, email: string): Promise<void> {
  await page.goto('/login');
  await page.getByLabel('E-mail', { exact: true }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill(passPhrase);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL((url) => url.pathname !== '/login');
  if (new URL(page.url()).pathname === '/onboarding') {
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    await page.waitForURL('/');
  }
}
