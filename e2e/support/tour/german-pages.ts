import { type APIRequestContext, expect, type Page } from '@playwright/test';
import { addAuthenticator } from '../browser/authenticator.ts';
import { codeOf } from '../factors.ts';
import { difficultNames, linkFor, makeOwner, newEmail, passPhrase, signIn } from '../people.ts';
import type { Service } from '../service.ts';
import type { Visit } from './routes.ts';
import { newestId } from './tour-part.ts';

type See = (address?: string) => Promise<void>;

/**
 * Visits every page of the service in a German browser, from sign-up to the operator console, and
 * calls `look` on each.
 */
export async function visitGermanPages(
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

  await see('/login');
  await see('/nichts-da');
  await see('/awaiting-approval');
  await see('/api/docs');
  await see('/invitation?token=x');
  await see('/password?token=x');
  await see('/signup');
  await page.getByLabel('Organisation').fill('Lärche & Söhne');
  await page.getByLabel('E-Mail', { exact: true }).fill(email);
  await page.getByLabel('Passwort', { exact: true }).fill('kurz');
  await page.getByRole('button', { name: 'Organisation anlegen' }).click();
  await expect(page.getByRole('alert')).toContainText('Verwenden Sie mindestens 8 Zeichen.');
  await page.getByLabel('Passwort', { exact: true }).fill(passPhrase);
  await page.getByRole('button', { name: 'Organisation anlegen' }).click();
  await expect(page.getByRole('heading', { name: 'Sehen Sie in Ihr Postfach' })).toBeVisible();
  await see();

  const link = await linkFor(service, email);
  const mails = await fetch(`${service.sandboxUrl}/mailbox/messages?to=${encodeURIComponent(email)}`);
  expect(((await mails.json()) as { subject: string }[])[0]?.subject).toMatch(/^Bestätigen Sie Ihre E-Mail-Adresse/);
  await see(link);
  await see(link);

  await page.goto('/login');
  await page.getByLabel('E-Mail', { exact: true }).fill(email);
  await page.getByLabel('Passwort', { exact: true }).fill('das falsche Passwort');
  await page.getByRole('button', { name: 'Anmelden', exact: true }).click();
  await expect(page.getByRole('alert')).toContainText('E-Mail oder Passwort ist falsch.');
  await see();
  await page.getByLabel('Passwort', { exact: true }).fill(passPhrase);
  await page.getByRole('button', { name: 'Anmelden', exact: true }).click();
  await expect(page).toHaveURL('/awaiting-approval');
  await see();
  await see('/awaiting-approval/account');
  await service.approve(email);
  await see('/onboarding');
  await page.getByRole('button', { name: 'Weiter', exact: true }).click();
  await expect(page).toHaveURL('/');

  for (const address of ['/', '/members', '/organisation', '/organisation?ask=delete', '/operator']) await see(address);
  await see('/members?invite');
  await page.getByRole('button', { name: 'Einladungslink erstellen' }).click();
  const invitation = await page.getByLabel('Der Link der Einladung').inputValue();
  await see();
  await see(invitation);
  for (const address of ['/account', '/account/security', '/account/data', '/account/delete', '/logout'])
    await see(address);
  await see('/billing');
  await expect(page.getByText('24 £')).toBeVisible();
  await page.getByRole('button', { name: 'Silver wählen' }).click();
  await page.waitForURL(`${service.sandboxUrl}/pay/checkout/**`);
  await page.getByLabel(/4242/).first().check();
  await page.getByRole('button', { name: /^Pay/ }).click();
  await expect(page.getByText('Sie haben jetzt Silver.')).toBeVisible();
  await see('/billing?ask=cancel');
  await page.getByRole('button', { name: 'Silver kündigen' }).click();
  await expect(page.getByText(/Endet am \d+\. \p{L}+ \d{4}, danach Free\./u)).toBeVisible();
  await see();
  await see('/');
  await see('/keys');
  await page.getByLabel('Name').fill('Lieferscheine');
  await page.getByRole('button', { name: 'Schlüssel erstellen' }).click();
  await see();
  await page.getByRole('link', { name: 'Widerrufen: Lieferscheine' }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await see();

  for (const organisation of difficultNames) await makeOwner(service, request, { approved: false, organisation });
  expect((await service.operator('grant', email)).stderr).toBe('');
  await seeConsole(page, see);
  await seeFactors({ page, request, service, operator: email }, see);
  return seen;
}

/** Visits the pages of a second factor, which is set up and answered by requests. */
async function seeFactors(
  { page, request, service, operator }: { page: Page; request: APIRequestContext; service: Service; operator: string },
  see: See,
): Promise<void> {
  const email = await makeOwner(service, request);
  await page.request.post('/api/logout');
  await signIn(page, email);
  const { secret } = await (await page.request.post('/api/factors/totp')).json();
  const confirmed = await page.request.post('/api/factors/totp/confirm', { data: { totp: codeOf(secret) } });
  const { recovery_codes: codes } = await confirmed.json();
  await see('/account/security');
  await addAuthenticator(page);
  await page.getByLabel('Name des Passkeys').fill('Arbeitslaptop');
  await page.getByRole('button', { name: 'Passkey hinzufügen' }).click();
  await expect(page.getByText('Noch nicht verwendet')).toBeVisible();
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
  await page.getByRole('button', { name: 'App einrichten' }).click();
  await expect(page.getByRole('img', { name: 'QR-Code des Schlüssels' })).toBeVisible();
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
  await page.getByRole('link', { name: /^Zweiten Faktor zurücksetzen/ }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await see();
}

async function seeConsole(page: Page, see: See): Promise<void> {
  const at = '/operator';
  await see(at);
  await page.keyboard.press('Control+K');
  await see();
  await page.getByRole('button', { name: 'Tastenkürzel' }).click();
  await see();
  await page.goto(at);
  await page
    .getByRole('link', { name: /^Ablehnen: 🦊/ })
    .first()
    .click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await see();
  await page.getByRole('dialog').getByRole('button', { name: 'Ablehnen' }).click();
  await expect(page.getByRole('status').getByText('ist abgelehnt.')).toBeVisible();
  for (const path of [
    '?search=x-y-z',
    '/decided',
    '/people',
    '/people?search=x-y-z',
    `/people?after=${newestId}`,
    '/organisations',
  ]) {
    await see(`${at}${path}`);
  }
  await page.getByRole('link', { name: '🦊' }).first().click();
  await expect(page.getByRole('heading', { name: '🦊' })).toBeVisible();
  await see();
  await page.getByRole('link', { name: 'Abrechnungsverlauf' }).click();
  await see();
  await page.goto(`${at}/people?search=owner-`);
  await page.locator('[data-row]').filter({ hasText: 'Wartet auf Freigabe' }).locator('a').first().click();
  await see();
  await page.getByRole('button', { name: /^Passwort-Link für/ }).click();
  const passwordLink = await page.getByLabel('Der Passwort-Link').inputValue();
  await see();
  const person = page.url();
  await see(passwordLink);
  await page.goto(person);
  await page.getByRole('link', { name: /^Sperren:/ }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await see();
  await page.getByRole('dialog').getByRole('button', { name: 'Sperren' }).click();
  await see();

  for (const path of ['/keys', '/events', '/events?search=x-y-z', '/events/drift']) await see(`${at}${path}`);
  await page.getByRole('button', { name: 'Jetzt alle vergleichen' }).click();
  await expect(page.getByText(/^\d+ Abonnements? verglichen/)).toBeVisible();
  await see();
  await page.goto(`${at}/events`);
  await page.getByRole('link', { name: 'Abonnement geändert' }).first().click();
  await expect(page.locator('pre')).toBeVisible();
  await see();
  await page.getByRole('main').getByRole('link', { name: 'Lärche & Söhne' }).click();
  await expect(page.getByText('Bezahlvorgang abgeschlossen')).toBeVisible();
  await see();
}
