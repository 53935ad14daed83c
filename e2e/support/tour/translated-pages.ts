import type { Language } from '@gatehouse/languages/generated/languages';
import type { Texts } from '@gatehouse/languages/generated/texts';
import { type APIRequestContext, expect, type Page } from '@playwright/test';
import { addAuthenticator } from '../browser/authenticator.ts';
import { addApp } from '../factors.ts';
import { any, matching, textsIn } from '../languages.ts';
import { difficultNames, linkFor, makeOwner, newEmail, passPhrase, signIn } from '../people.ts';
import type { Service } from '../service.ts';
import type { Visit } from './routes.ts';
import { newestId } from './tour-part.ts';

type See = (address?: string) => Promise<void>;

/**
 * Visits every page of the service in a browser of the language, from sign-up to the operator console, and calls
 * `look` on each. The service offers the language.
 */
export async function visitTranslatedPages(
  language: Language,
  { page, request, service }: { page: Page; request: APIRequestContext; service: Service },
  look: (page: Page) => Promise<void>,
): Promise<Visit[]> {
  const seen: Visit[] = [];
  const see: See = async (address) => {
    const answer = address === undefined ? null : await page.goto(address);
    await page.waitForLoadState('load');
    seen.push({ path: new URL(page.url()).pathname, status: answer?.status() ?? 200 });
    await look(page);
  };
  const email = newEmail('inhaberin');
  const t = textsIn(language);
  const { signUp, signIn: login, billing, member, key, apiError } = t;

  await see('/login');
  await see('/nichts-da');
  await see('/awaiting-approval');
  await see('/api/docs');
  await see('/invitation?token=x');
  await see('/password?token=x');
  await see('/signup');
  await page.getByLabel(signUp.organisation).fill('Lärche & Söhne');
  await page.getByLabel(signUp.email, { exact: true }).fill(email);
  await page.getByLabel(t.password.label, { exact: true }).fill('kurz');
  await page.getByRole('button', { name: signUp.createOrganisation }).click();
  await expect(page.getByRole('alert')).toContainText(apiError.password_too_short({ minimum: 8 }));
  await page.getByLabel(t.password.label, { exact: true }).fill(passPhrase);
  await page.getByRole('button', { name: signUp.createOrganisation }).click();
  await expect(page.getByRole('heading', { name: signUp.checkMail })).toBeVisible();
  await see();

  const link = await linkFor(service, email);
  const mails = await fetch(`${service.sandboxUrl}/mailbox/messages?to=${encodeURIComponent(email)}`);
  expect(((await mails.json()) as { subject: string }[])[0]?.subject).toBe(
    t.verificationMail.subject({ service: 'Gatehouse' }),
  );
  await see(link);
  await see(link);

  await page.goto('/login');
  await page.getByLabel(signUp.email, { exact: true }).fill(email);
  await page.getByLabel(t.password.label, { exact: true }).fill('das falsche Passwort');
  await page.getByRole('button', { name: login.title, exact: true }).click();
  await expect(page.getByRole('alert')).toContainText(apiError.wrong_credentials);
  await see();
  await page.getByLabel(t.password.label, { exact: true }).fill(passPhrase);
  await page.getByRole('button', { name: login.title, exact: true }).click();
  await expect(page).toHaveURL('/awaiting-approval');
  await see();
  await see('/awaiting-approval/account');
  await service.approve(email);
  await see('/onboarding');
  await page.getByRole('button', { name: t.waiting.continue, exact: true }).click();
  await expect(page).toHaveURL('/');

  for (const address of [
    '/',
    '/members',
    '/organisation',
    '/organisation?ask=delete',
    '/organisation?create',
    '/organisation/audit',
    '/operator',
  ])
    await see(address);
  await see('/members?invite');
  await page.getByRole('button', { name: member.createInvitation }).click();
  const invitation = await page.getByLabel(member.theLink).inputValue();
  await see();
  await see(invitation);
  for (const address of ['/account', '/account/security', '/account/data', '/account/delete', '/logout'])
    await see(address);
  await see('/billing');
  await expect(page.getByText(/(^|\D)24\s£/).first()).toBeVisible();
  await page.getByRole('button', { name: billing.choose({ plan: 'Silver' }) }).click();
  await page.waitForURL(`${service.sandboxUrl}/pay/checkout/**`);
  await page.getByLabel(/4242/).first().check();
  await page.getByRole('button', { name: /^Pay/ }).click();
  await expect(page.getByText(billing.nowOn({ plan: 'Silver' }))).toBeVisible();
  await see('/billing?ask=change&tier=gold');
  await see('/billing?ask=cancel');
  await page.getByRole('button', { name: billing.cancel({ plan: 'Silver' }) }).click();
  await expect(page.getByText(matching(t.plan.endsOn({ day: any, next: 'Free' })))).toBeVisible();
  await see();
  await see('/');
  await see('/keys');
  await page.getByLabel(key.name).fill('Lieferscheine');
  await page.getByRole('button', { name: key.create }).click();
  await see();
  await page.getByRole('link', { name: key.revokeOne({ name: 'Lieferscheine' }) }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await see();

  for (const organisation of difficultNames) await makeOwner(service, request, { approved: false, organisation });
  expect((await service.operator('grant', email)).stderr).toBe('');
  await seeConsole(page, t, see);
  await seeFactors({ page, request, service, operator: email }, t, see);
  return seen;
}

/** Visits the pages of a second factor, which is set up and answered by requests. */
async function seeFactors(
  { page, request, service, operator }: { page: Page; request: APIRequestContext; service: Service; operator: string },
  t: Texts,
  see: See,
): Promise<void> {
  const email = await makeOwner(service, request);
  await page.request.post('/api/logout');
  await signIn(page, email);
  const { codes } = await addApp(page.request);
  await see('/account/security');
  await addAuthenticator(page);
  await page.getByLabel(t.passkey.name).fill('Arbeitslaptop');
  await page.getByRole('button', { name: t.passkey.add }).click();
  await expect(page.getByText(t.passkey.neverUsed)).toBeVisible();
  await see();

  const { organisation } = await (await page.request.get('/api/session')).json();
  const from = new Date().toISOString().slice(0, 10);
  const rule = { organisation_id: organisation.id, from };
  const required = await page.request.post('/api/trpc/organisations.requireSecondFactor', { data: rule });
  expect(required.status(), await required.text()).toBe(200);
  await see('/organisation');
  const invitation = { organisation_id: organisation.id, role: 'member' };
  const invited = await (await page.request.post('/api/trpc/members.invite', { data: invitation })).json();
  const member = await makeOwner(service, request);
  await page.request.post('/api/logout');
  await signIn(page, member);
  const joining = { token: new URL(invited.result.data.url).searchParams.get('token') };
  expect((await page.request.post('/api/trpc/members.join', { data: joining })).status()).toBe(200);
  await page.goto('/');
  await expect(page).toHaveURL('/account/security/required');
  await see();
  await page.getByRole('button', { name: t.factor.setUp, exact: true }).click();
  await expect(page.getByRole('img', { name: t.factor.picture })).toBeVisible();
  await see();

  await page.request.post('/api/logout');
  const logIn = (password: string) => page.request.post('/api/login', { data: { email, password } });
  expect((await logIn(passPhrase)).status()).toBe(401);
  await see('/login/second-step');

  const { stdout } = await service.operator('password-link', email);
  const token = new URL(stdout.trim()).searchParams.get('token') ?? '';
  const password = 'quite another pass phrase';
  await page.request.post('/api/trpc/accounts.setPassword', { data: { token, password } });
  expect((await logIn(password)).status()).toBe(401);
  const done = await page.request.post('/api/login/second-step', { data: { recovery_code: codes[0] } });
  expect(done.status(), await done.text()).toBe(200);
  await see('/account/security/review');

  await page.request.post('/api/logout');
  await signIn(page, operator);
  await page.goto(`/operator/people?search=${encodeURIComponent(email)}`);
  await page.locator('[data-row]').filter({ hasText: email }).locator('a').first().click();
  await page.getByRole('link', { name: matching(t.accountAdmin.resetOne({ email })) }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await see();
}

async function seeConsole(page: Page, t: Texts, see: See): Promise<void> {
  const at = '/operator';
  await see(at);
  await page.keyboard.press('Control+K');
  await see();
  await page.getByRole('button', { name: t.console.shortcuts, exact: true }).click();
  await see();
  await page.goto(at);
  await page
    .getByRole('link', { name: matching(t.request.declineOne({ name: `🦊${any}` })) })
    .first()
    .click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await see();
  await page.getByRole('dialog').getByRole('button', { name: t.request.decline }).click();
  await expect(page.getByRole('status').getByText(t.requestDone.declined({ name: '' }))).toBeVisible();
  for (const path of [
    '?search=x-y-z',
    '/decided',
    '/people',
    '/people?search=x-y-z',
    `/people?after=${newestId}`,
    '/audit',
    '/organisations',
  ]) {
    await see(`${at}${path}`);
  }
  await page.getByRole('link', { name: '🦊' }).first().click();
  await expect(page.getByRole('heading', { name: '🦊' })).toBeVisible();
  await see();
  await page.getByRole('link', { name: t.accountAdmin.billingHistory }).click();
  await see();
  await page.goto(`${at}/people?search=owner-`);
  await page
    .locator('[data-row]')
    .filter({ hasText: t.accountAdmin.status.awaiting_approval })
    .locator('a')
    .first()
    .click();
  await see();
  await page.getByRole('button', { name: matching(t.accountAdmin.passwordLinkFor({ email: any })) }).click();
  const passwordLink = await page.getByLabel(t.accountAdmin.theLink).inputValue();
  await see();
  const person = page.url();
  await see(passwordLink);
  await page.goto(person);
  await page.getByRole('link', { name: matching(t.accountAdmin.suspendOne({ name: any })) }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await see();
  await page.getByRole('dialog').getByRole('button', { name: t.accountAdmin.suspend }).click();
  await see();

  for (const path of ['/keys', '/events', '/events?search=x-y-z', '/events/drift']) await see(`${at}${path}`);
  // The counts depend on what other stories sold.
  const counts = Array.from({ length: 30 }, (_, count) => t.report.compared({ count, repaired: 0 }));
  const compared = matching(...counts);
  await page.getByRole('button', { name: t.event.compareAll }).click();
  await expect(page.getByText(compared)).toBeVisible();
  await see();
  await page.goto(`${at}/events`);
  await page.getByRole('link', { name: t.eventType.names['customer.subscription.updated'] }).first().click();
  await expect(page.locator('pre')).toBeVisible();
  await see();
  await page.getByRole('main').getByRole('link', { name: 'Lärche & Söhne' }).click();
  await expect(page.getByText(t.eventType.names['checkout.session.completed'])).toBeVisible();
  await see();
}
