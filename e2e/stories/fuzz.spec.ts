import fc from 'fast-check';
import { type Caller, expectNoFailure, sendEachField, sendForEach, type Write } from '../support/fuzz/fuzz-requests.ts';
import { bodyWith, codePoint, nested } from '../support/fuzz/fuzz-values.ts';
import { type Procedure, readProcedures } from '../support/fuzz/procedures.ts';
import { makeOwner, passPhrase } from '../support/people.ts';
import { send } from '../support/raw-request.ts';
import { expect, type Service, test } from '../support/service.ts';

// The callers of the parallel tests are made once for each worker.
test.describe.configure({ mode: 'parallel', timeout: 600_000 });

const contentType = fc.oneof(
  { weight: 4, arbitrary: fc.constant('application/json') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('application/json; charset=utf-16', 'text/plain', '', 'multipart/form-data'),
  },
);
const method = fc.constantFrom('POST', 'POST', 'POST', 'GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'PROPFIND');

/** Sent without a session, because signing out would end the sessions of the other requests. */
const endsSessions = new Set(['/api/logout', '/api/trpc/signIn.out']);
/** An empty body ends the caller's account, whose session is fresh. */
const endsAccount = 'leaving.deleteAccount';

type Operation = { requestBody?: { content: { 'application/json': { schema: { $ref: string } } } } };

/** Every path that answers in JSON, except the router's, with its method and fields, as the service describes them. */
async function readEndpoints(service: Service): Promise<{ path: string; verb: string; fields: string[] }[]> {
  const { text } = await send(service, '/api/openapi.json');
  const { paths, components } = JSON.parse(text) as {
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, { properties?: object }> };
  };
  return Object.entries(paths).map(([path, operations]) => {
    const [verb = 'post', operation] = Object.entries(operations).find(([, { requestBody }]) => requestBody) ?? [];
    const name = operation?.requestBody?.content['application/json'].schema.$ref.split('/').at(-1) ?? '';
    return { path, verb: verb.toUpperCase(), fields: Object.keys(components.schemas[name]?.properties ?? {}) };
  });
}

/** The headers of a caller without a session, an administrator, an operator, and two API keys. */
let callers: Caller[] = [];
let procedures: Procedure[] = [];
test.beforeAll(async ({ service, playwright }) => {
  procedures = readProcedures();
  callers = [{}];
  for (const operator of [false, true]) {
    const request = await playwright.request.newContext({ baseURL: service.baseUrl });
    const email = await makeOwner(service, request, { operator });
    await request.post('/api/login', { data: { email, password: passPhrase } });
    const { cookies } = await request.storageState();
    callers.push({ cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; ') });
    await request.dispose();
  }
  for (const scope of [['WRITE'], ['MANAGE', '--password-links']]) {
    const { stdout } = await service.operator('api-key', 'create', '--name', 'Fuzz', '--scope', ...scope);
    callers.push({ authorization: `Bearer ${stdout.trim()}` });
  }
});
test.afterAll(async ({ service }) => {
  // A request that ended a caller's session would have left the later ones unauthenticated.
  for (const headers of callers.filter(({ cookie }) => cookie !== undefined))
    expect((await send(service, '/api/session', { headers })).status).toBe(200);
});

function callersOf(path: string): Caller[] {
  return endsSessions.has(path) ? [{}] : callers;
}

test('no request body makes a JSON endpoint answer 500, for any caller', async ({ service }) => {
  const endpoints = await readEndpoints(service);
  expect(endpoints.length).toBeGreaterThan(20);
  expect(endpoints.filter(({ fields }) => fields.length > 0).length).toBeGreaterThan(8);
  for (const { path: template, verb, fields } of endpoints) {
    const path = template.replace('{id}', 'unknown').replace(/\{(name|meter)\}/, 'projects');
    const write: Write = (content, headers) => ({
      path,
      method: verb,
      headers: { ...headers, 'content-type': 'application/json' },
      body: content,
    });
    await sendEachField(service, callersOf(path), fields, write);
    await fc.assert(
      fc.asyncProperty(method, bodyWith(fields), contentType, (anyVerb, content, type) =>
        sendForEach(service, callersOf(path), content, (body, headers) => ({
          path,
          method: anyVerb,
          headers: { ...headers, ...(type && { 'content-type': type }) },
          body: anyVerb === 'GET' || anyVerb === 'HEAD' ? '' : body,
        })),
      ),
      { numRuns: 10 },
    );
  }
});

for (const kind of ['query', 'mutation']) {
  test(`no input makes a ${kind} answer 500, for any caller`, async ({ service }) => {
    for (const { path: name, isMutation, fields } of procedures.filter(
      (each) => each.isMutation === (kind === 'mutation') && each.path !== endsAccount,
    )) {
      const path = `/api/trpc/${name}`;
      const type = { 'content-type': 'application/json' };
      const write: Write = (content, headers) =>
        isMutation
          ? { path, method: 'POST', headers: { ...headers, ...type }, body: content }
          : { path: `${path}?input=${inAddress(content)}`, headers };

      await sendEachField(service, callersOf(path), fields, write);
      await fc.assert(
        fc.asyncProperty(bodyWith(fields), (content) => sendForEach(service, callersOf(path), content, write)),
        { numRuns: 10 },
      );
    }
  });
}

test('no path or batch of procedure names makes the router answer 500', async ({ service }) => {
  const name = fc.oneof(
    fc.constantFrom(
      ...procedures.map(({ path }) => path),
      'accounts',
      '__proto__',
      'constructor',
      'toString',
      '',
      '%ff',
      '%00',
    ),
    fc.string().map(encoded),
  );
  const query = fc.array(
    fc.tuple(
      fc.constantFrom('batch', 'input', 'connectionParams', 'lastEventId'),
      fc
        .oneof(fc.constantFrom('1', '', '{', '[]', 'null', '{"0":{}}', '{"0":null}', '%ff'), fc.json(), nested)
        .map(inAddress),
    ),
    { maxLength: 3 },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.array(name, { maxLength: 4 }),
        name.map((one) => Array.from({ length: 200 }, () => one.slice(0, 30))),
      ),
      query,
      fc.constantFrom('GET', 'POST', 'HEAD'),
      bodyWith(['0', '1', 'email']),
      (names, pairs, verb, content) => {
        const path = `/api/trpc/${names.join(',')}?${pairs.map((pair) => pair.join('=')).join('&')}`;
        const body = verb === 'POST' ? content : '';
        return expectNoFailure(service, { path, method: verb, headers: { 'content-type': 'application/json' }, body });
      },
    ),
    {
      examples: [
        [Array.from({ length: 400 }, () => 'accounts.resend'), [['batch', '1']], 'POST', '{}'],
        [
          ['accounts.resend'],
          [
            ['batch', '1'],
            ['input', '%7B%7D'],
          ],
          'GET',
          '',
        ],
      ],
      numRuns: 150,
    },
  );
});

/** Limits the length, because Node closes the connection for a longer request line. */
function inAddress(value: string): string {
  return encoded(value).slice(0, 3000);
}

function encoded(value: string): string {
  try {
    return encodeURIComponent(value);
  } catch {
    return '%ED%A0%80';
  }
}

test('no query string makes the callback, a link or a page answer 500', async ({ service }) => {
  const value = fc
    .oneof(fc.string({ unit: codePoint }), fc.constantFrom('', '%00', '%ff', 'x'.repeat(5000)))
    .map(encoded);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(
        '/auth/idp/callback',
        '/verify',
        '/invitation',
        '/members',
        '/login',
        '/signup',
        '/billing',
        '/awaiting-approval',
        '/',
      ),
      fc.array(fc.tuple(fc.constantFrom('state', 'code', 'error', 'token', 'checkout', 'return_to', '/x'), value), {
        maxLength: 4,
      }),
      fc.constantFrom('GET', 'HEAD'),
      (path, query, verb) =>
        expectNoFailure(service, { path: `${path}?${query.map((pair) => pair.join('=')).join('&')}`, method: verb }),
    ),
    { numRuns: 200 },
  );
});
