import { chooseAtProvider } from '../support/at-provider.ts';
import { cookiesOf, linkFor, newEmail, passPhrase } from '../support/people.ts';
import { type Answer, send } from '../support/raw-request.ts';
import { expect, type Service, test } from '../support/service.ts';

type Back = { path: string; cookie: string };

/** Somebody who was at the provider and comes back, with the attempt's cookie. */
async function comeBack(service: Service, email = newEmail()): Promise<Back> {
  const start = await send(service, '/auth/idp/start');
  const { pathname, search } = await chooseAtProvider(start.headers.location ?? '', service.baseUrl, email);
  return { path: pathname + search, cookie: start.headers['set-cookie']?.[0]?.split(';')[0] ?? '' };
}

function finish(service: Service, { path, cookie }: Back, method = 'GET'): Promise<Answer> {
  return send(service, path, { method, headers: cookie === '' ? {} : { cookie } });
}

/** What the provider's token endpoint answers the next time. */
async function answerNext(service: Service, kind: string): Promise<void> {
  const sent = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const answer = await fetch(`${service.sandboxUrl}/idp/answer`, {
    ...sent,
    body: JSON.stringify({ kind, once: true }),
  });
  expect(answer.ok).toBe(true);
}

/** Everything of an answer but the moment and the name of its request. */
function comparable({ status, headers, text }: Answer) {
  const { date: _, 'x-request-id': __, ...rest } = headers;
  return { status, headers: rest, text };
}

async function verified(service: Service): Promise<string> {
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

/** Every way to fail before the code is exchanged, and of an account that may not come in. */
const failures: Record<string, (service: Service) => Promise<Answer>> = {
  'nothing at all': (service) => send(service, '/auth/idp/callback'),
  'no attempt': async (service) => finish(service, { ...(await comeBack(service)), cookie: '' }),
  'the attempt of nobody': async (service) => finish(service, { ...(await comeBack(service)), cookie: 'attempt=x' }),
  async 'another state'(service) {
    const { path, cookie } = await comeBack(service);
    return finish(service, { path: changed(path, { state: 'x' }), cookie });
  },
  async 'no state'(service) {
    const { path, cookie } = await comeBack(service);
    return finish(service, { path: changed(path, { state: null }), cookie });
  },
  async 'no code'(service) {
    const { path, cookie } = await comeBack(service);
    return finish(service, { path: changed(path, { code: null }), cookie });
  },
  async 'an empty code'(service) {
    const { path, cookie } = await comeBack(service);
    return finish(service, { path: changed(path, { code: '' }), cookie });
  },
  async 'another code'(service) {
    const { path, cookie } = await comeBack(service);
    return finish(service, { path: changed(path, { code: 'x' }), cookie });
  },
  async 'a replay'(service) {
    const back = await comeBack(service);
    expect((await finish(service, back)).headers.location).toBe('/');
    return finish(service, back);
  },
  async 'a suspended account'(service) {
    const email = await verified(service);
    expect((await service.operator('suspend', email)).stderr).toBe('');
    return finish(service, await comeBack(service, email));
  },
  async 'a declined account'(service) {
    const email = await verified(service);
    expect((await service.operator('decline', email, '--reason', 'No.')).stderr).toBe('');
    return finish(service, await comeBack(service, email));
  },
  async 'an account with another subject'(service) {
    const email = newEmail();
    expect((await finish(service, await comeBack(service, email))).headers.location).toBe('/');
    return finish(service, await comeBack(service, email));
  },
};

/** These only take their time; how long is waited for them is tested where the clock is at hand. */
const slow = ['silence', 'silence_in_body', 'late', 'slow', 'trickle'];

test('every failure of the callback is the same answer, byte for byte, before the exchange and after', async ({
  service,
}) => {
  test.setTimeout(120_000);
  const answers: Record<string, Answer> = {};
  for (const [what, fail] of Object.entries(failures)) answers[what] = await fail(service);

  const menu = (await (await fetch(`${service.sandboxUrl}/idp/answers`)).json()) as { kind: string; expect: string }[];
  const refused = menu.filter((answer) => answer.expect === 'refused' && !slow.includes(answer.kind));
  expect(refused.length).toBeGreaterThan(40);
  for (const { kind } of refused) {
    const back = await comeBack(service);
    await answerNext(service, kind);
    answers[kind] = await finish(service, back);
  }

  const [first] = Object.values(answers).map(comparable);
  expect(first).toMatchObject({ status: 302, headers: { location: '/login?error=idp' }, text: '' });
  expect(first?.headers['set-cookie']).toEqual([expect.stringMatching(/^attempt=; .*Max-Age=0/)]);
  for (const [what, answer] of Object.entries(answers)) expect(comparable(answer), what).toEqual(first);
});

test('an error of the provider differs in one thing: the attempt stays', async ({ service }) => {
  const back = await comeBack(service);
  const other = comparable(await send(service, '/auth/idp/callback'));
  const { 'set-cookie': _, ...headers } = other.headers;
  const cookies = { headers: { cookie: back.cookie } };
  for (const query of ['?error=access_denied', '?error=access_denied&state=x&code=y']) {
    const answer = comparable(await send(service, `/auth/idp/callback${query}`, cookies));
    expect(answer).toEqual({ ...other, headers });
  }
  expect((await finish(service, back)).headers.location).toBe('/');
});

test('HEAD starts no session and no attempt, and consumes none', async ({ service }) => {
  const back = await comeBack(service);
  const looked = await finish(service, back, 'HEAD');
  expect([looked.status, looked.headers.location, looked.headers['set-cookie']]).toEqual([302, '/login', undefined]);

  const start = await send(service, '/auth/idp/start', { method: 'HEAD', headers: { cookie: back.cookie } });
  expect([start.status, start.headers['set-cookie']]).toEqual([302, undefined]);
  expect((await finish(service, back)).headers.location).toBe('/');
});

test('a sign-in by the provider is written down for the person, as is the link that it made', async ({ service }) => {
  const email = await verified(service);
  expect((await service.operator('approve', email)).stderr).toBe('');
  const answer = await finish(service, await comeBack(service, email));
  const session = answer.headers['set-cookie']?.find((line) => line.startsWith('session='))?.split(';')[0] ?? '';
  const told = await send(service, '/api/trpc/accounts.activity', { headers: { cookie: session } });
  const entries = JSON.parse(told.text).result.data as { action: string; client: string | null }[];
  for (const action of ['signed-in', 'identity-linked']) {
    expect(entries.filter((entry) => entry.action === action)).toMatchObject([{ client: '127.0.0.1' }]);
  }
});
