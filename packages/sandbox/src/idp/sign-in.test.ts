import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Sandbox } from '../sandbox.ts';
import { openBrowser, startTestSandbox } from '../testing.ts';

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startTestSandbox();
});
beforeEach(() => sandbox.idp.setAnswer(null));
afterAll(() => sandbox.close());

const callback = 'http://localhost:3000/auth/idp/callback';

test('a made-up person signs in, and the token says who it is', async () => {
  const browser = openBrowser();
  const chooser = await browser.open(authAddress());
  expect(await chooser.text()).toContain('Make up a person');
  const back = await browser.open(`${chooser.at}/person`, {
    email: 'ada@example.test',
    name: 'Ada',
    email_verified: 'true',
  });
  const answer = new URL(back.at);
  expect(answer.origin + answer.pathname).toBe(callback);
  expect(answer.searchParams.get('state')).toBe('the-state');

  const tokens = await exchange(answer.searchParams.get('code') ?? '');
  expect(tokens.status).toBe(200);
  const [person] = sandbox.idp.people.all();
  expect(claimsOf(await tokens.json())).toMatchObject({
    iss: `${sandbox.url}/idp`,
    aud: 'sandbox-client',
    nonce: 'the-nonce',
    email: 'ada@example.test',
    email_verified: true,
    name: 'Ada',
    sub: person?.sub,
  });
});

test('the same person keeps the subject, and the chooser asks each time', async () => {
  const browser = openBrowser();
  const person = sandbox.idp.people.add({ email: 'bo@example.test', email_verified: false });
  for (const _ of [1, 2]) {
    const claims = claimsOf(await (await exchange(await chooseCode(browser, person.sub))).json());
    expect(claims).toMatchObject({ sub: person.sub, email_verified: false });
    expect(claims).not.toHaveProperty('name');
  }
});

test('the client may authenticate in the body or by basic authentication, and no other way', async () => {
  const person = sandbox.idp.people.add({ email: 'cy@example.test' });
  const browser = openBrowser();
  const basic = `Basic ${Buffer.from('sandbox-client:sandbox_client_secret').toString('base64')}`;
  const code = await chooseCode(browser, person.sub);
  expect((await exchange(code, { client_secret: 'wrong' })).status).toBe(401);
  expect((await exchange(code, { client_secret: '' })).status).toBeGreaterThanOrEqual(400);
  expect((await exchange(code, { client_secret: '' }, basic)).status).toBe(200);
  expect((await exchange(code)).status).toBe(400);
});

test('a foreign redirect address is refused at both endpoints', async () => {
  const wrong = 'http://localhost:3000/auth/idp/callback/';
  const refused = await openBrowser().open(authAddress({ redirect_uri: wrong }));
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain('redirect_uri');
  const person = sandbox.idp.people.add({ email: 'di@example.test' });
  const code = await chooseCode(openBrowser(), person.sub);
  expect((await exchange(code, { redirect_uri: wrong })).status).toBe(400);
});

test('PKCE holds where it is used', async () => {
  const person = sandbox.idp.people.add({ email: 'ed@example.test' });
  const challenge = createHash('sha256').update('v'.repeat(43)).digest('base64url');
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };
  const [wrong, right] = [
    await chooseCode(openBrowser(), person.sub, pkce),
    await chooseCode(openBrowser(), person.sub, pkce),
  ];
  expect((await exchange(wrong, { code_verifier: 'w'.repeat(43) })).status).toBe(400);
  expect((await exchange(right, { code_verifier: 'v'.repeat(43) })).status).toBe(200);
});

test('who cancels comes back with an error, and a lost attempt is a page that says so', async () => {
  const browser = openBrowser();
  const chooser = await browser.open(authAddress());
  const back = await browser.open(`${chooser.at}/cancel`, {});
  expect(new URL(back.at).searchParams.get('error')).toBe('access_denied');
  const lost = await openBrowser().open(chooser.at);
  expect(lost.status).toBe(400);
  expect(await lost.text()).toContain('Start again at the service');
});

function authAddress(changes: Record<string, string> = {}): string {
  const query = new URLSearchParams({
    client_id: 'sandbox-client',
    redirect_uri: callback,
    response_type: 'code',
    scope: 'openid email profile',
    state: 'the-state',
    nonce: 'the-nonce',
    prompt: 'select_account',
    ...changes,
  });
  return `${sandbox.idp.authUrl}?${query}`;
}

async function chooseCode(browser: ReturnType<typeof openBrowser>, sub: string, changes: Record<string, string> = {}) {
  const chooser = await browser.open(authAddress(changes));
  const back = await browser.open(chooser.at, { sub });
  return new URL(back.at).searchParams.get('code') ?? '';
}

function exchange(code: string, changes: Record<string, string> = {}, authorization?: string): Promise<Response> {
  const fields = {
    code,
    client_id: 'sandbox-client',
    client_secret: 'sandbox_client_secret',
    redirect_uri: callback,
    grant_type: 'authorization_code',
    ...changes,
  };
  const body = new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== ''));
  return fetch(sandbox.idp.tokenUrl, { method: 'POST', body, headers: authorization ? { authorization } : {} });
}

function claimsOf(body: unknown): Record<string, unknown> {
  const { id_token: token } = body as { id_token: string };
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}
