import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sandbox } from '../sandbox.ts';
import { openBrowser, startTestSandbox } from '../testing.ts';
import { type AnswerKind, answerKinds, answers } from './answers.ts';
import { chooseCode, claimsOf, exchange } from './test-client.ts';

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

const timeoutMs = 2600;
const slowKinds: AnswerKind[] = ['silence', 'silence_in_body', 'late', 'slow', 'trickle'];

test.each(answerKinds.filter((kind) => !slowKinds.includes(kind)))(
  'a client that follows the interface accepts or refuses %s as declared',
  async (kind) => {
    expect(await resultOf(sandbox, kind)).toBe(answers[kind].expect);
  },
);

test.concurrent.each(slowKinds)(
  'a client with a timeout accepts or refuses the slow answer %s as declared',
  async (kind) => {
    const own = await startTestSandbox();
    expect(await resultOf(own, kind)).toBe(answers[kind].expect);
    await own.close();
  },
);

test('answerNext applies to one token request, and setAnswer to all later ones', async () => {
  sandbox.idp.answerNext('wrong_issuer');
  expect(await signIn(sandbox)).toBe('refused');
  expect(await signIn(sandbox)).toBe('accepted');
  sandbox.idp.setAnswer('no_sub');
  expect(await signIn(sandbox)).toBe('refused');
  expect(await signIn(sandbox)).toBe('refused');
  sandbox.idp.setAnswer(null);
  expect(await signIn(sandbox)).toBe('accepted');
});

test('a form and a JSON request set the answer too, and unknown names are refused', async () => {
  const json = (body: object) =>
    fetch(`${sandbox.url}/idp/answer`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
  expect(await (await json({ kind: 'expired', once: true })).json()).toEqual({ ok: true, answer: 'expired' });
  expect(await signIn(sandbox)).toBe('refused');
  expect((await json({ kind: 'constructor' })).status).toBe(400);
  const form = new URLSearchParams({ kind: 'exp_zero' });
  expect((await fetch(`${sandbox.url}/idp/answer`, { method: 'POST', body: form, redirect: 'manual' })).status).toBe(
    303,
  );
  expect(sandbox.idp.answer()).toBe('exp_zero');
  expect(await signIn(sandbox)).toBe('accepted');
  sandbox.idp.setAnswer(null);
});

async function resultOf(of: Sandbox, kind: AnswerKind): Promise<'accepted' | 'refused'> {
  of.idp.answerNext(kind);
  return signIn(of);
}

/** Signs in as a client that follows the interface, and the design where the interface leaves a choice. */
async function signIn(of: Sandbox): Promise<'accepted' | 'refused'> {
  const [person = of.idp.people.add({ email: 'ada@example.test', name: 'Ada' })] = of.idp.people.all();
  const code = await chooseCode(of, openBrowser(), person.sub);
  try {
    const response = await exchange(of, code, {}, undefined, AbortSignal.timeout(timeoutMs));
    const body = JSON.parse(await readLimited(response));
    if (response.status !== 200 || typeof body.id_token !== 'string') return 'refused';
    if (body.id_token.split('.').length !== 3 || !/^[\w-]+$/.test(body.id_token.split('.')[1])) return 'refused';
    return isAcceptable(of, readClaims(body)) ? 'accepted' : 'refused';
  } catch {
    return 'refused';
  }
}

function readClaims(body: { id_token: string }): Record<string, unknown> {
  const bytes = Buffer.from(body.id_token.split('.')[1] ?? '', 'base64url');
  new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  const claims = claimsOf(body);
  if (typeof claims !== 'object' || claims === null || Array.isArray(claims)) throw new Error('no claims');
  return claims;
}

function isAcceptable(of: Sandbox, claims: Record<string, unknown>): boolean {
  const { iss, aud, nonce, exp, email, email_verified: verified, sub } = claims;
  const now = Date.now() / 1000;
  return (
    of.idp.issuers.includes(iss as string) &&
    aud === 'sandbox-client' &&
    nonce === 'the-nonce' &&
    (exp === undefined || exp === null || exp === 0 || (typeof exp === 'number' && exp >= now)) &&
    typeof email === 'string' &&
    email.includes('@') &&
    Boolean(verified) &&
    verified !== 'false' &&
    verified !== '0' &&
    typeof sub === 'string' &&
    sub.length > 0 &&
    sub.length <= 255 &&
    !sub.includes('\0')
  );
}

async function readLimited(response: Response): Promise<string> {
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString('latin1');
    if (text.length > 1_000_000) throw new Error('too large');
  }
  return text;
}
