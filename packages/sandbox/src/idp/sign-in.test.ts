import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Sandbox } from '../sandbox.ts';
import { openBrowser, startTestSandbox } from '../testing.ts';
import { authAddress, callback, chooseCode, claimsOf, exchange } from './test-client.ts';

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startTestSandbox();
});
beforeEach(() => sandbox.idp.setAnswer(null));
afterAll(() => sandbox.close());

test('a new person signs in, and the token holds the person’s claims', async () => {
  const browser = openBrowser();
  const chooser = await browser.open(authAddress(sandbox));
  expect(await chooser.text()).toContain('Create a person');
  const returned = await browser.open(`${chooser.at}/person`, {
    email: 'ada@example.test',
    name: 'Ada',
    email_verified: 'true',
  });
  const answer = new URL(returned.at);
  expect(answer.origin + answer.pathname).toBe(callback);
  expect(answer.searchParams.get('state')).toBe('the-state');

  const tokens = await exchange(sandbox, answer.searchParams.get('code') ?? '');
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

test('a person keeps the same subject, and each sign-in shows the chooser', async () => {
  const browser = openBrowser();
  const person = sandbox.idp.people.add({ email: 'bo@example.test', email_verified: false });
  for (const _ of [1, 2]) {
    const claims = claimsOf(await (await exchange(sandbox, await chooseCode(sandbox, browser, person.sub))).json());
    expect(claims).toMatchObject({ sub: person.sub, email_verified: false });
    expect(claims).not.toHaveProperty('name');
  }
});

test('the client can authenticate in the body or by basic authentication, and in no other way', async () => {
  const person = sandbox.idp.people.add({ email: 'cy@example.test' });
  const browser = openBrowser();
  const basic = `Basic ${Buffer.from('sandbox-client:sandbox_client_secret').toString('base64')}`;
  const code = await chooseCode(sandbox, browser, person.sub);
  expect((await exchange(sandbox, code, { client_secret: 'wrong' })).status).toBe(401);
  expect((await exchange(sandbox, code, { client_secret: '' })).status).toBeGreaterThanOrEqual(400);
  expect((await exchange(sandbox, code, { client_secret: '' }, basic)).status).toBe(200);
  expect((await exchange(sandbox, code)).status).toBe(400);
});

test('a foreign redirect address is refused at both endpoints', async () => {
  const wrong = 'http://localhost:3000/auth/idp/callback/';
  const refused = await openBrowser().open(authAddress(sandbox, { redirect_uri: wrong }));
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain('redirect_uri');
  const person = sandbox.idp.people.add({ email: 'di@example.test' });
  const code = await chooseCode(sandbox, openBrowser(), person.sub);
  expect((await exchange(sandbox, code, { redirect_uri: wrong })).status).toBe(400);
});

test('PKCE is enforced if the client uses it', async () => {
  const person = sandbox.idp.people.add({ email: 'ed@example.test' });
  const challenge = createHash('sha256').update('v'.repeat(43)).digest('base64url');
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };
  const [wrong, right] = [
    await chooseCode(sandbox, openBrowser(), person.sub, pkce),
    await chooseCode(sandbox, openBrowser(), person.sub, pkce),
  ];
  expect((await exchange(sandbox, wrong, { code_verifier: 'w'.repeat(43) })).status).toBe(400);
  expect((await exchange(sandbox, right, { code_verifier: 'v'.repeat(43) })).status).toBe(200);
});

test('a cancelled sign-in returns with access_denied, and an unknown attempt shows an error page', async () => {
  const browser = openBrowser();
  const chooser = await browser.open(authAddress(sandbox));
  const returned = await browser.open(`${chooser.at}/cancel`, {});
  expect(new URL(returned.at).searchParams.get('error')).toBe('access_denied');
  const lost = await openBrowser().open(chooser.at);
  expect(lost.status).toBe(400);
  expect(await lost.text()).toContain('Start again at the service');
});
