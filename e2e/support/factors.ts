import { createHmac } from 'node:crypto';
import { type APIRequestContext, expect, type Page } from '@playwright/test';

const stepSeconds = 30;

/** Returns the code of an authenticator app, `later` steps from now: a code counts once, and one step ahead is taken. */
export function codeOf(secret: string, later = 0): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = [...secret].map((letter) => letters.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 1000 / stepSeconds) + later));
  const hash = createHmac('sha1', key).update(counter).digest();
  const number = hash.readUInt32BE((hash.at(-1) ?? 0) & 0xf) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, '0');
}

/** Sets up an authenticator app on /account/security in a fresh session. Returns its secret, the code that was used and the recovery codes. */
export async function setUpApp(page: Page, look: (name: string) => Promise<void> = async () => {}) {
  await page.goto('/account/security');
  await page.getByRole('button', { name: 'Set up an app' }).click();
  await expect(page.getByRole('img', { name: 'QR code of the key' })).toBeVisible();
  const secret = await page.getByRole('textbox', { name: 'Key', exact: true }).inputValue();
  await look('account-security-app');
  const used = codeOf(secret);
  await page.getByLabel('Code that the app shows now').fill(used);
  await page.getByRole('button', { name: 'Turn on' }).click();
  await expect(page.getByRole('heading', { name: /^Keep these codes now/ })).toBeVisible();
  const codes = await page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem').allInnerTexts();
  await look('account-security-codes');
  return { secret, used, codes: codes.map((code) => code.trim()) };
}

/** Sets up an authenticator app for the signed-in user in a fresh session, by requests. Returns its secret and the recovery codes. */
export async function addApp(request: APIRequestContext): Promise<{ secret: string; codes: string[] }> {
  const { secret } = await (await request.post('/api/factors/totp')).json();
  const confirmed = await request.post('/api/factors/totp/confirm', { data: { totp: codeOf(secret) } });
  expect(confirmed.status(), await confirmed.text()).toBe(200);
  const { recovery_codes: codes } = await confirmed.json();
  return { secret, codes };
}

/** Signs in on the page with the password, which leads to the second step. */
export async function toSecondStep(page: Page, email: string, password: string): Promise<void> {
  await page.goto('/login');
  await page.getByLabel('E-mail', { exact: true }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page).toHaveURL('/login/second-step');
}

/** Answers the second step with a recovery code. */
export async function useRecoveryCode(page: Page, code: string): Promise<void> {
  await page.locator('summary', { hasText: 'Use a recovery code' }).click();
  await page.getByLabel('Recovery code', { exact: true }).fill(code);
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
}
