import { randomBytes } from 'node:crypto';
import { linkFor, passPhrase } from './people.ts';
import { type Answer, send } from './raw-request.ts';
import { expect, type Service, test } from './service.ts';

/** An address of always the same length, so that answers which name it can be compared byte by byte. */
function newAddress(): string {
  return `${randomBytes(6).toString('hex')}@company.example`;
}

async function signUp(service: Service, email: string): Promise<void> {
  const body = JSON.stringify({ email, password: passPhrase, org_name: 'Company' });
  await send(service, '/api/signup', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

async function verified(service: Service): Promise<string> {
  const email = newAddress();
  await signUp(service, email);
  const link = new URL(await linkFor(service, email));
  expect((await send(service, link.pathname + link.search)).status).toBe(200);
  return email;
}

async function operate(service: Service, ...args: string[]): Promise<void> {
  expect((await service.operator(...args)).stderr).toBe('');
}

/** Every state that an account can be in, each made through the real doors. */
const states: Record<string, (service: Service) => Promise<string>> = {
  unknown: async () => newAddress(),
  async unverified(service) {
    const email = newAddress();
    await signUp(service, email);
    return email;
  },
  awaiting: verified,
  async active(service) {
    const email = await verified(service);
    await operate(service, 'approve', email);
    return email;
  },
  async declined(service) {
    const email = await verified(service);
    await operate(service, 'decline', email, '--reason', 'Not a customer.');
    return email;
  },
  async suspended(service) {
    const email = await verified(service);
    await operate(service, 'suspend', email);
    return email;
  },
  async 'identity provider only'(service) {
    const email = newAddress();
    await signInAtProvider(service, email);
    return email;
  },
};

/** Through the provider's pages as a browser would go, keeping cookies by hand. */
async function signInAtProvider(service: Service, email: string): Promise<void> {
  const start = await send(service, '/auth/idp/start');
  const cookies = new Map<string, string>();
  let url = start.headers.location ?? '';
  let form: URLSearchParams | null = null;
  for (let hop = 0; hop < 10; hop++) {
    const answer: Response = await fetch(url, {
      redirect: 'manual',
      method: form === null ? 'GET' : 'POST',
      body: form,
      headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
    });
    for (const line of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=');
      cookies.set(name, value);
    }
    const next = answer.headers.get('location');
    const chooser = /action="(\/idp\/interaction\/[^"/]+\/person)"/.exec(next === null ? await answer.text() : '')?.[1];
    form = chooser === undefined ? null : new URLSearchParams({ email, email_verified: 'true' });
    url = new URL(chooser ?? next ?? '', url).href;
    if (url.startsWith(service.baseUrl)) break;
  }
  const { pathname, search } = new URL(url);
  const cookie = start.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  const callback = await send(service, pathname + search, { headers: { cookie } });
  expect(callback.headers.location).toBe('/');
}

/** An answer without what differs from request to request by chance. */
function comparable({ status, headers, text }: Answer, email: string) {
  // The entity tag is a hash of the page, and so of its nonce.
  const { date: _, etag: __, 'x-request-id': ___, 'set-cookie': cookies = [], ...rest } = headers;
  const noChance = (value: string) =>
    value
      .replaceAll(email, 'ADDRESS')
      .replaceAll(encodeURIComponent(email), 'ADDRESS')
      .replace(/nonce-[\w+/=-]+/g, 'nonce')
      .replace(/nonce="[^"]+"/g, 'nonce')
      .replace(/__sveltekit_\w+/g, 'kit')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
  return {
    status,
    headers: noChance(JSON.stringify(rest)),
    cookies: cookies.map((cookie) => cookie.replace(/=[^;]*/, '=VALUE').replace(/Expires=[^;]+/i, '')),
    text: noChance(text),
  };
}

const asJson = { 'content-type': 'application/json' };
const asForm = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' };

/** Every route that takes an address; a wrong password where one is asked. */
const routes: Record<string, (email: string) => { path: string; headers: Record<string, string>; body: string }> = {
  'POST /api/login': (email) => ({
    path: '/api/login',
    headers: asJson,
    body: JSON.stringify({ email, password: 'not the pass phrase' }),
  }),
  'POST /api/signup': (email) => ({
    path: '/api/signup',
    headers: asJson,
    body: JSON.stringify({ email, password: 'another pass phrase', org_name: 'Others' }),
  }),
  'POST /api/signup/resend': (email) => ({
    path: '/api/signup/resend',
    headers: asJson,
    body: JSON.stringify({ email }),
  }),
  'the form at /login': (email) => ({
    path: '/login',
    headers: asForm,
    body: new URLSearchParams({ email, password: 'not the pass phrase' }).toString(),
  }),
  'the form at /signup': (email) => ({
    path: '/signup?/create',
    headers: asForm,
    body: new URLSearchParams({ email, password: 'another pass phrase', org_name: 'Others' }).toString(),
  }),
  'the resend form': (email) => ({
    path: '/signup?/resend',
    headers: asForm,
    body: new URLSearchParams({ email }).toString(),
  }),
};

for (const [route, request] of Object.entries(routes)) {
  test(`${route} answers the same for every state of an account`, async ({ service }) => {
    const answers: Record<string, ReturnType<typeof comparable>> = {};
    for (const [state, make] of Object.entries(states)) {
      const email = await make(service);
      const { path, headers, body } = request(email);
      const answer = await send(service, path, { method: 'POST', headers: { ...headers }, body });
      answers[state] = comparable(answer, email);
    }

    expect(answers.unknown?.status).toBeLessThan(500);
    for (const [state, answer] of Object.entries(answers)) expect(answer, state).toEqual(answers.unknown);
  });
}
