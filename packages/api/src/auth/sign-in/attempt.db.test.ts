import { type AnswerKind, answers } from '@gatehouse/sandbox/idp/answers';
import { openBrowser } from '@gatehouse/sandbox/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signInAttempts } from '../../platform/db/schema/sign-in.ts';
import { declineOwner, suspendUser } from '../../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { makeOwner, newEmail, testClient } from '../../testing/factories.ts';
import { finishSignIn, startSignIn } from './attempt.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp({ timeouts: { identityProviderSeconds: 5 } });
});
afterAll(() => test.close());

/** A browser that was sent to the provider, chose an account there, and returns with a state and a code. */
async function comeBack(email = newEmail(), name?: string, at = test) {
  const started = await startSignIn(at.app, { attemptCookie: null }, testClient);
  if (started === null) throw new Error('the feature is off');
  const known = at.sandbox.idp.people.all().find((person) => person.email === email);
  const person = known ?? at.sandbox.idp.people.add({ email, email_verified: true, ...(name && { name }) });
  const browser = openBrowser();
  const chooser = await browser.open(started.url);
  const back = new URL((await browser.open(chooser.at, { sub: person.sub })).at);
  return {
    state: back.searchParams.get('state'),
    code: back.searchParams.get('code'),
    error: back.searchParams.get('error'),
    attemptCookie: started.cookie,
  };
}

function finish(answer: Parameters<typeof finishSignIn>[1], at = test) {
  return finishSignIn(at.app, answer, testClient);
}

async function pendingAttempts(): Promise<number> {
  return (await test.app.db.select().from(signInAttempts)).length;
}

it('signs in a user whose address the provider has verified', async () => {
  const some = expect.any(String);
  expect(await finish(await comeBack())).toEqual({
    userId: some,
    organisationId: some,
    idpSubject: some,
    linking: null,
    replaces: null,
  });
});

it('sends the parameters that the interface lists, with PKCE where it is on', async () => {
  const { url } = (await startSignIn(test.app, { attemptCookie: null }, testClient)) ?? { url: '' };
  expect(Object.fromEntries(new URL(url).searchParams)).toEqual({
    client_id: 'sandbox-client',
    redirect_uri: `${test.app.config.publicBaseUrl}/auth/idp/callback`,
    response_type: 'code',
    scope: 'openid email profile',
    state: expect.stringMatching(/^[\w-]{32}$/),
    nonce: expect.stringMatching(/^[\w-]{32}$/),
    prompt: 'select_account',
  });

  const pkce = await startTestApp({ environment: { IDP_PKCE: 'true' } });
  expect(await finish(await comeBack(newEmail(), undefined, pkce), pkce)).toMatchObject({ userId: expect.any(String) });
  await pkce.close();
});

it('fails on a provider’s error, and leaves the attempt unchanged', async () => {
  const answer = await comeBack();
  const before = await pendingAttempts();
  await expect(finish({ ...answer, error: 'access_denied' })).rejects.toThrow('error');
  expect(await pendingAttempts()).toBe(before);
  await finish(answer);
});

it.each<[string, Partial<Parameters<typeof finishSignIn>[1]>]>([
  ['another state', { state: 'another' }],
  ['no state', { state: null }],
  ['no code', { code: null }],
  ['an empty code', { code: '' }],
  ['another code', { code: 'another' }],
])('fails with %s, and consumes the attempt', async (_, change) => {
  const answer = await comeBack();
  await expect(finish({ ...answer, ...change })).rejects.toThrow();
  await expect(finish(answer)).rejects.toThrow('state');
});

it.each([
  ['without its cookie', null],
  ['with a cookie of another browser', 'x'.repeat(43)],
])('fails %s, and the attempt stays with its browser', async (_, attemptCookie) => {
  const answer = await comeBack();
  await expect(finish({ ...answer, attemptCookie })).rejects.toThrow('state');
  await finish(answer);
});

it('of 20 parallel callbacks one succeeds', async () => {
  const answer = await comeBack();
  const ended = await Promise.allSettled(Array.from({ length: 20 }, () => finish(answer)));
  expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

it('an attempt expires after ten minutes, and the next one of the browser replaces it', async () => {
  const late = await startTestApp();
  const answer = await comeBack(newEmail(), undefined, late);
  late.advance(10 * 60_000 + 1000);
  await expect(finish(answer, late)).rejects.toThrow('state');
  await late.close();

  const first = await comeBack();
  await startSignIn(test.app, { attemptCookie: first.attemptCookie }, testClient);
  await expect(finish(first)).rejects.toThrow('state');
});

it('refuses a closed account with an error for the log', async () => {
  const suspended = await makeOwner(test);
  await suspendUser(test.app, suspended.email);
  await expect(finish(await comeBack(suspended.email))).rejects.toThrow('closed');
  const declined = await makeOwner(test, { approved: false });
  await declineOwner(test.app, declined.email, 'Not a customer.');
  await expect(finish(await comeBack(declined.email))).rejects.toThrow('closed');
});

it('recognises a user whose address changed at the provider, or its letters’ case', async () => {
  const email = newEmail();
  const first = await finish(await comeBack(email));
  test.sandbox.idp.answerNext('email_upper_case');
  expect(await finish(await comeBack(email))).toEqual(first);
});

const slow = new Set<AnswerKind>(['silence', 'silence_in_body', 'late', 'slow', 'trickle']);
const menu = Object.entries(answers).map(([kind, { about, expect: ends, ...rest }]) => ({
  kind: kind as AnswerKind,
  about,
  ends,
  name: 'module' in rest && rest.module ? `${kind} (${rest.module})` : kind,
}));

it.each(menu.filter(({ kind }) => !slow.has(kind)))('$name: $about is $ends', async ({ kind, ends }) => {
  test.sandbox.idp.setAnswer(kind);
  const ended = await finish(await comeBack()).then(
    () => 'accepted',
    () => 'refused',
  );
  test.sandbox.idp.setAnswer(null);
  expect(ended).toBe(ends);
});

it('waits until the timeout for an answer that is silent, late or slow, and no longer', async () => {
  const patient = menu.filter(({ kind }) => slow.has(kind));
  const comingBack = await Promise.all(patient.map(() => comeBack()));
  // Which of them gets which answer is open: they arrive at the provider in any order.
  for (const { kind } of patient) test.sandbox.idp.answerNext(kind);
  const ended = await Promise.allSettled(comingBack.map((answer) => finish(answer)));

  const accepted = ended.filter(({ status }) => status === 'fulfilled');
  expect(accepted).toHaveLength(patient.filter(({ ends }) => ends === 'accepted').length);
});
