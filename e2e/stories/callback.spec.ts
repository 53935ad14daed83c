import { chooseAtProvider } from '../support/at-provider.ts';
import { cookiesOf, linkFor, newEmail, passPhrase } from '../support/people.ts';
import { type Answer, send } from '../support/raw-request.ts';
import { expect, type Service, test } from '../support/service.ts';

type Callback = { path: string; cookie: string };

/** Chooses an account at the provider. Returns the callback's path and the attempt's cookie. */
async function returnFromProvider(service: Service, email = newEmail()): Promise<Callback> {
  const start = await send(service, '/auth/idp/start');
  const { pathname, search } = await chooseAtProvider(start.headers.location ?? '', service.baseUrl, email);
  return { path: pathname + search, cookie: start.headers['set-cookie']?.[0]?.split(';')[0] ?? '' };
}

function finish(service: Service, { path, cookie }: Callback, method = 'GET'): Promise<Answer> {
  return send(service, path, { method, headers: cookie === '' ? {} : { cookie } });
}

/** Sets the next answer of the provider's token endpoint. */
async function answerNext(service: Service, kind: string): Promise<void> {
  const sent = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const answer = await fetch(`${service.sandboxUrl}/idp/answer`, {
    ...sent,
    body: JSON.stringify({ kind, once: true }),
  });
  expect(answer.ok).toBe(true);
}

/** Returns an answer without its date and request id, which differ between equal requests. */
function comparable({ status, headers, text }: Answer) {
  const { date: _, 'x-request-id': __, ...rest } = headers;
  return { status, headers: rest, text };
}

async function makeVerifiedUser(service: Service): Promise<string> {
  const email = newEmail();
  const body = JSON.stringify({ email, password: passPhrase });
  const headers = { 'content-type': 'application/json' };
  const cookie = cookiesOf(await send(service, '/api/signup', { method: 'POST', headers, body }));
  const link = new URL(await linkFor(service, email));
  expect((await send(service, link.pathname + link.search, { headers: { cookie } })).status).toBe(200);
  return email;
}

function changed(path: string, change: Record<string, string | null>): string {
  const url = new URL(path, 'http://localhost');
  for (const [name, value] of Object.entries(change)) {
    if (value === null) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url.pathname + url.search;
}

/** Every failure before the exchange of the code, and those of accounts that may not sign in. */
const failures: Record<string, (service: Service) => Promise<Answer>> = {
  'no parameters': (service) => send(service, '/auth/idp/callback'),
  'no attempt': async (service) => finish(service, { ...(await returnFromProvider(service)), cookie: '' }),
  'an unknown attempt': async (service) =>
    finish(service, { ...(await returnFromProvider(service)), cookie: 'attempt=x' }),
  async 'another state'(service) {
    const { path, cookie } = await returnFromProvider(service);
    return finish(service, { path: changed(path, { state: 'x' }), cookie });
  },
  async 'no state'(service) {
    const { path, cookie } = await returnFromProvider(service);
    return finish(service, { path: changed(path, { state: null }), cookie });
  },
  async 'no code'(service) {
    const { path, cookie } = await returnFromProvider(service);
    return finish(service, { path: changed(path, { code: null }), cookie });
  },
  async 'an empty code'(service) {
    const { path, cookie } = await returnFromProvider(service);
    return finish(service, { path: changed(path, { code: '' }), cookie });
  },
  async 'another code'(service) {
    const { path, cookie } = await returnFromProvider(service);
    return finish(service, { path: changed(path, { code: 'x' }), cookie });
  },
  async 'a replay'(service) {
    const callback = await returnFromProvider(service);
    expect((await finish(service, callback)).headers.location).toBe('/');
    return finish(service, callback);
  },
  async 'a suspended account'(service) {
    const email = await makeVerifiedUser(service);
    expect((await service.operator('suspend', email)).stderr).toBe('');
    return finish(service, await returnFromProvider(service, email));
  },
  async 'a declined account'(service) {
    const email = await makeVerifiedUser(service);
    expect((await service.operator('decline', email, '--reason', 'No.')).stderr).toBe('');
    return finish(service, await returnFromProvider(service, email));
  },
  async 'an account with another subject'(service) {
    const email = newEmail();
    expect((await finish(service, await returnFromProvider(service, email))).headers.location).toBe('/');
    return finish(service, await returnFromProvider(service, email));
  },
};

/** These answers are only slow: api tests, which control the clock, cover the timeouts. */
const slow = ['silence', 'silence_in_body', 'late', 'slow', 'trickle'];

test('every failure of the callback gets the same answer, byte for byte, before and after the exchange', async ({
  service,
}) => {
  const answers: Record<string, Answer> = {};
  for (const [what, fail] of Object.entries(failures)) answers[what] = await fail(service);

  const kinds = (await (await fetch(`${service.sandboxUrl}/idp/answers`)).json()) as { kind: string; expect: string }[];
  const refused = kinds.filter((answer) => answer.expect === 'refused' && !slow.includes(answer.kind));
  expect(refused.length).toBeGreaterThan(40);
  for (const { kind } of refused) {
    const callback = await returnFromProvider(service);
    await answerNext(service, kind);
    answers[kind] = await finish(service, callback);
  }

  const [first] = Object.values(answers).map(comparable);
  expect(first).toMatchObject({ status: 302, headers: { location: '/login?error=idp' }, text: '' });
  expect(first?.headers['set-cookie']).toEqual([expect.stringMatching(/^attempt=; .*Max-Age=0/)]);
  for (const [what, answer] of Object.entries(answers)) expect(comparable(answer), what).toEqual(first);
});

test('an error from the provider gets the same answer, and keeps the attempt', async ({ service }) => {
  const callback = await returnFromProvider(service);
  const other = comparable(await send(service, '/auth/idp/callback'));
  const { 'set-cookie': _, ...headers } = other.headers;
  const cookies = { headers: { cookie: callback.cookie } };
  for (const query of ['?error=access_denied', '?error=access_denied&state=x&code=y']) {
    const answer = comparable(await send(service, `/auth/idp/callback${query}`, cookies));
    expect(answer).toEqual({ ...other, headers });
  }
  expect((await finish(service, callback)).headers.location).toBe('/');
});

test('HEAD starts no session and no attempt, and consumes none', async ({ service }) => {
  const callback = await returnFromProvider(service);
  const answered = await finish(service, callback, 'HEAD');
  expect([answered.status, answered.headers.location, answered.headers['set-cookie']]).toEqual([
    302,
    '/login',
    undefined,
  ]);

  const start = await send(service, '/auth/idp/start', { method: 'HEAD', headers: { cookie: callback.cookie } });
  expect([start.status, start.headers['set-cookie']]).toEqual([302, undefined]);
  expect((await finish(service, callback)).headers.location).toBe('/');
});

test('a sign-in by the provider, and the identity that it links, are in the user’s activity', async ({ service }) => {
  const email = await makeVerifiedUser(service);
  await service.approve(email);
  const answer = await finish(service, await returnFromProvider(service, email));
  const session = answer.headers['set-cookie']?.find((line) => line.startsWith('session='))?.split(';')[0] ?? '';
  const activity = await send(service, '/api/trpc/accounts.activity', { headers: { cookie: session } });
  const entries = JSON.parse(activity.text).result.data as { action: string; client: string | null }[];
  for (const action of ['signed-in', 'identity-linked']) {
    expect(entries.filter((entry) => entry.action === action)).toMatchObject([{ client: '127.0.0.1' }]);
  }
});
