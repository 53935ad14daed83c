import { randomBytes } from 'node:crypto';
import { chooseAtProvider } from '../support/at-provider.ts';
import { readProcedures } from '../support/fuzz/procedures.ts';
import { cookiesOf, linkFor, passPhrase } from '../support/people.ts';
import { type Answer, send } from '../support/raw-request.ts';
import { expect, type Service, test } from '../support/service.ts';

/** Returns an address of fixed length, so that answers that contain it can be compared byte by byte. */
function newAddress(): string {
  return `${randomBytes(6).toString('hex')}@company.example`;
}

/** Signs up, and returns the cookies of the browser. */
async function signUp(service: Service, email: string): Promise<string> {
  const body = JSON.stringify({ email, password: passPhrase, org_name: 'Company' });
  const headers = { 'content-type': 'application/json' };
  return cookiesOf(await send(service, '/api/signup', { method: 'POST', headers, body }));
}

async function makeVerifiedUser(service: Service): Promise<string> {
  const email = newAddress();
  const cookie = await signUp(service, email);
  const link = new URL(await linkFor(service, email));
  expect((await send(service, link.pathname + link.search, { headers: { cookie } })).status).toBe(200);
  return email;
}

async function operate(service: Service, ...args: string[]): Promise<void> {
  expect((await service.operator(...args)).stderr).toBe('');
}

/** Every status of an account, made through the real endpoints and admin commands. */
const states: Record<string, (service: Service) => Promise<string>> = {
  unknown: async () => newAddress(),
  async unverified(service) {
    const email = newAddress();
    await signUp(service, email);
    return email;
  },
  awaiting: makeVerifiedUser,
  async active(service) {
    const email = await makeVerifiedUser(service);
    await service.approve(email);
    return email;
  },
  async declined(service) {
    const email = await makeVerifiedUser(service);
    await operate(service, 'decline', email, '--reason', 'Not a customer.');
    return email;
  },
  async suspended(service) {
    const email = await makeVerifiedUser(service);
    await operate(service, 'suspend', email);
    return email;
  },
  async 'identity provider only'(service) {
    const email = newAddress();
    await signInAtProvider(service, email);
    return email;
  },
};

async function signInAtProvider(service: Service, email: string): Promise<void> {
  const start = await send(service, '/auth/idp/start');
  const { pathname, search } = await chooseAtProvider(start.headers.location ?? '', service.baseUrl, email);
  const cookie = start.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  const callback = await send(service, pathname + search, { headers: { cookie } });
  expect(callback.headers.location).toBe('/');
}

/** Returns an answer without its random values and times, which differ between equal requests. */
function comparable({ status, headers, text }: Answer, email: string) {
  // The entity tag is a hash of the page, and so of its nonce.
  const { date: _, etag: __, 'x-request-id': ___, 'set-cookie': cookies = [], ...rest } = headers;
  const withoutRandomValues = (value: string) =>
    value
      .replaceAll(email, 'ADDRESS')
      .replaceAll(encodeURIComponent(email), 'ADDRESS')
      .replace(/nonce-[\w+/=-]+/g, 'nonce')
      .replace(/nonce="[^"]+"/g, 'nonce')
      .replace(/__sveltekit_\w+/g, 'kit')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
  return {
    status,
    headers: withoutRandomValues(JSON.stringify(rest)),
    cookies: cookies.map((cookie) => cookie.replace(/=[^;]*/, '=VALUE').replace(/Expires=[^;]+/i, '')),
    text: withoutRandomValues(text),
  };
}

const asJson = { 'content-type': 'application/json' };
const asForm = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' };
const wrong = 'not the pass phrase';

type Asked = { path: string; headers: Record<string, string>; body: string };

function json(path: string, fields: object): Asked {
  return { path, headers: asJson, body: JSON.stringify(fields) };
}

function form(path: string, fields: Record<string, string>): Asked {
  return { path, headers: asForm, body: new URLSearchParams(fields).toString() };
}

const others = { password: 'another pass phrase', org_name: 'Others' };

/** Every procedure that takes an address, with a wrong password where it takes the password of that account. */
const procedures: Record<string, (email: string, organisationId: string) => object> = {
  'accounts.signUp': (email) => ({ email, ...others }),
  'accounts.resend': (email) => ({ email }),
  'accounts.changeAddress': (email) => ({ email, password: passPhrase }),
  'signIn.withPassword': (email) => ({ email, password: wrong }),
  'organisations.changeBillingContact': (email, organisation_id) => ({ email, organisation_id }),
  'organisations.transfer': (email, organisation_id) => ({ email, organisation_id, password: passPhrase }),
};

/** The JSON endpoints and forms that take an address. */
const endpoints: Record<string, (email: string, invitation: string, organisationId: string) => Asked> = {
  'POST /api/login': (email) => json('/api/login', { email, password: wrong }),
  'POST /api/signup': (email) => json('/api/signup', { email, ...others }),
  'POST /api/signup/resend': (email) => json('/api/signup/resend', { email }),
  'the form at /login': (email) => form('/login', { email, password: wrong }),
  'the form at /signup': (email) => form('/signup?/create', { email, ...others }),
  'POST /api/signup by an invitation': (email, invitation) =>
    json('/api/signup', { email, password: others.password, invitation }),
  'the form at /signup by an invitation'(email, invitation) {
    const asked = form('/signup?/create', { email, password: others.password, invitation });
    return { ...asked, headers: { ...asked.headers, cookie: `invitation=${invitation}` } };
  },
  'the resend form': (email) => form('/signup?/resend', { email }),
  'the form at /account': (email) => form('/account?/changeAddress', { email, password: passPhrase }),
};

const routes: typeof endpoints = {
  ...endpoints,
  ...Object.fromEntries(
    Object.entries(procedures).map(([name, fields]) => [
      name,
      (email: string, _: string, organisationId: string) => json(`/api/trpc/${name}`, fields(email, organisationId)),
    ]),
  ),
};

/** Addresses by state, made once for all routes if no request changes their state. */
const kept = new Map<string, Promise<string>>();

function addressIn(state: string, service: Service): Promise<string> {
  const make = () => states[state]?.(service) ?? Promise.reject(new Error(`There is no state ${state}.`));
  if (state === 'unknown' || state === 'unverified') return make();
  const made = kept.get(state) ?? make();
  kept.set(state, made);
  return made;
}

/** The routes that require a session. It belongs to another user than the address. */
const needsSession = new Set([
  'accounts.changeAddress',
  'the form at /account',
  'organisations.changeBillingContact',
  'organisations.transfer',
]);

async function newSession(service: Service): Promise<string> {
  const email = await makeVerifiedUser(service);
  await service.approve(email);
  const { path, headers, body } = json('/api/login', { email, password: passPhrase });
  const answer = await send(service, path, { method: 'POST', headers, body });
  return answer.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
}

async function organisationOf(service: Service, cookie: string): Promise<string> {
  const { text } = await send(service, '/api/session', { headers: { cookie } });
  return JSON.parse(text).organisation.id;
}

/** Creates an invitation to an organisation of this service. Signing up does not consume it. */
async function newInvitation(service: Service): Promise<string> {
  const cookie = await newSession(service);
  const organisation_id = await organisationOf(service, cookie);
  const asked = json('/api/trpc/members.invite', { organisation_id, role: 'viewer' });
  const headers = { ...asked.headers, cookie };
  const answer = await send(service, asked.path, { method: 'POST', headers, body: asked.body });
  return new URL(JSON.parse(answer.text).result.data.url).searchParams.get('token') ?? '';
}

/** The status of each route: 401 for a wrong password, 400 for a new owner who is no member, else success. */
function statusOf(route: string): number {
  if (route === 'organisations.transfer') return 400;
  if (/login|withPassword/.test(route)) return 401;
  return /form/.test(route) ? 303 : 200;
}

test('every procedure that takes an address is covered by these tests', () => {
  // A key with MANAGE may read every user, and every other caller is refused before the address is read.
  const taking = readProcedures()
    .filter(({ path }) => !path.startsWith('management.'))
    .filter(({ fields }) => fields.some((field) => /(^|_)(e?mail|address)$/.test(field)))
    .map(({ path }) => path);
  expect(taking.sort()).toEqual(Object.keys(procedures).sort());
});

for (const [route, request] of Object.entries(routes)) {
  test(`${route} answers the same for every state of an account`, async ({ service }) => {
    const session = needsSession.has(route) ? await newSession(service) : null;
    const organisationId = session === null ? '' : await organisationOf(service, session);
    const cookie: Record<string, string> = session === null ? {} : { cookie: session };
    const invitation = route.includes('invitation') ? await newInvitation(service) : '';

    const answers: Record<string, ReturnType<typeof comparable>> = {};
    for (const state of Object.keys(states)) {
      const email = await addressIn(state, service);
      const { path, headers, body } = request(email, invitation, organisationId);
      const answer = await send(service, path, { method: 'POST', headers: { ...headers, ...cookie }, body });
      answers[state] = comparable(answer, email);
    }

    expect(answers.unknown?.status).toBe(statusOf(route));
    for (const [state, answer] of Object.entries(answers)) expect(answer, state).toEqual(answers.unknown);
  });
}

test('a browser that is known to one account gets the same answer for every other account', async ({ service }) => {
  const email = await makeVerifiedUser(service);
  const { path, headers, body } = json('/api/login', { email, password: passPhrase });
  const signedIn = await send(service, path, { method: 'POST', headers, body });
  const cookie = signedIn.headers['set-cookie']?.find((each) => each.startsWith('known='))?.split(';')[0] ?? '';
  expect(cookie).toMatch(/^known=./);

  const answers: Record<string, ReturnType<typeof comparable>> = {};
  for (const state of Object.keys(states)) {
    const other = await addressIn(state, service);
    const asked = json('/api/login', { email: other, password: wrong });
    const sent = { method: 'POST', headers: { ...asked.headers, cookie }, body: asked.body };
    answers[state] = comparable(await send(service, asked.path, sent), other);
  }
  expect(answers.unknown).toMatchObject({ status: 401, cookies: [] });
  for (const [state, answer] of Object.entries(answers)) expect(answer, state).toEqual(answers.unknown);
});
