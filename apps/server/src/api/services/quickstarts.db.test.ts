import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { startSession } from '@gatehouse/api/auth/sessions/session';
import { startTestApp, type TestApp } from '@gatehouse/api/testing/app';
import { makeOwner, testClient } from '@gatehouse/api/testing/factories';
import { freePort } from '@gatehouse/api/testing/free-ports';
import { makeKey } from '@gatehouse/api/testing/keys';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { serveEndpoints } from '../testing/serve-endpoints.ts';

const fromRoot = (file: string) => fileURLToPath(new URL(`../../../../../${file}`, import.meta.url));
const quickstarts = fromRoot('examples/quickstarts');
/** Debian's own, which its packages belong to. */
const debianPython = '/usr/bin/python3';
const python = fs.existsSync(debianPython) ? debianPython : 'python3';

let test: TestApp;
let served: Awaited<ReturnType<typeof serveEndpoints>>;
let owner: Awaited<ReturnType<typeof makeOwner>>;
let cookie: string;
let environment: NodeJS.ProcessEnv;
beforeAll(async () => {
  test = await startTestApp({ environment: { TOKEN_TTL_SECONDS: '300' } });
  served = await serveEndpoints(test.app);
  owner = await makeOwner(test);
  // Cookies of another product, in a form that not every parser reads.
  cookie = `theme={"dark":true}; session=${await startSession(test.app, { ...owner, client: testClient })}; =x`;
  environment = { ...process.env, GATEHOUSE_URL: served.url, GATEHOUSE_API_KEY: (await makeKey(test)).key };
});
afterAll(async () => {
  test.app.changes.stop();
  await served.close();
  await test.close();
});

/** Runs a quickstart in TypeScript, with the client's source in place of the installed package. */
function runNode(file: string, env: NodeJS.ProcessEnv): ChildProcess {
  const code = fs
    .readFileSync(`${quickstarts}/src/${file}`, 'utf8')
    .replace(/'@gatehouse\/client\/(\w+)'/g, `'${fromRoot('packages/client/src/adapters')}/$1.ts'`)
    .replace("'@gatehouse/client'", `'${fromRoot('packages/client/src/client.ts')}'`);
  const options = { cwd: quickstarts, env, stdio: 'inherit' } as const;
  return spawn(process.execPath, ['--input-type=module-typescript', '-e', code], options);
}

function runFastapi(env: NodeJS.ProcessEnv): ChildProcess {
  const args = ['-m', 'uvicorn', '--app-dir', `${quickstarts}/src`, 'fastapi_app:app', '--port', env.PORT ?? ''];
  const options = { env: { ...env, PYTHONPATH: fromRoot('packages/client-python') }, stdio: 'ignore' } as const;
  return spawn(debianPython, args, options);
}

const hasPython = spawnSync(python, ['--version']).status === 0;
const hasFastapi = spawnSync(debianPython, ['-c', 'import fastapi, uvicorn']).status === 0;

const runs: [name: string, isThere: boolean, run: (env: NodeJS.ProcessEnv) => ChildProcess][] = [
  ['Hono', true, (env) => runNode('hono.ts', env)],
  ['Express', true, (env) => runNode('express.ts', env)],
  ['FastAPI', hasFastapi, runFastapi],
];

describe.each(runs)('the quickstart for %s', (_, isThere, run) => {
  it('leads to sign-in, shows the plan, counts within the limit, and signs out', async (context) => {
    if (!isThere) context.skip('There is no python3 with fastapi and uvicorn on this machine.');
    const origin = `http://127.0.0.1:${await freePort()}`;
    const product = run({ ...environment, ORIGIN: origin, PORT: new URL(origin).port });
    try {
      const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
        fetch(origin + path, { method, headers, redirect: 'manual' });
      await vi.waitFor(async () => expect((await ask('/')).status).toBe(401), { timeout: 60_000, interval: 200 });

      const page = await ask('/', { accept: 'text/html' });
      const back = `${served.url}/login?${new URLSearchParams({ return_to: `${origin}/` })}`;
      expect([page.status, page.headers.get('location')]).toEqual([302, back]);
      expect(await (await ask('/', { cookie })).json()).toMatchObject({ email: owner.email, plan: { tier: 'free' } });

      const counted = (await (await ask('/searches', { cookie }, 'POST')).json()) as { limit: number; used: number };
      expect(counted).toMatchObject({ meter: 'api_calls', used: expect.any(Number) });
      const left = counted.limit - counted.used;
      await test.app.sql`update usage set used = used + ${left} where organisation_id = ${owner.organisationId}`;
      const refused = await ask('/searches', { cookie }, 'POST');
      expect([refused.status, await refused.json()]).toMatchObject([403, { code: 'LIMIT_REACHED' }]);
      await test.app.sql`delete from usage where organisation_id = ${owner.organisationId}`;

      const out = await ask('/sign-out');
      expect([302, 307]).toContain(out.status);
      expect(out.headers.get('location')).toContain(`${served.url}/logout?return_to=http`);
    } finally {
      product.kill();
    }
  });
});

/** Every function of the Python client, against this service. Prints one line of JSON for each. */
const everyFunction = `
import json, os, sys
from gatehouse import Gatehouse, GatehouseError, session_cookies
organisation, cookie, url, key = sys.argv[1:]
gatehouse = Gatehouse(url, api_key=key)
def say(name, value):
    print(json.dumps([name, value]))
def error(call):
    try:
        call()
    except GatehouseError as error:
        return [error.status, error.code, error.fields or error.body.get("allowed_by")]
say("session", gatehouse.session(cookie)["user"]["email"])
say("no session", [gatehouse.session("session=nobody"), gatehouse.session(None), gatehouse.session("a=1")])
say("cookies", session_cookies("a=1; __Host-session=x; session=y; __Secure-gatehouse=z"))
say("entitlements", gatehouse.entitlements(organisation)["organisation"]["id"])
say("check", gatehouse.check(organisation, "projects")["allowed"])
say("reserve", [gatehouse.reserve(organisation, "api_calls", 2, "k")["used"], gatehouse.reserve(organisation, "api_calls", 2, "k")["used"]])
say("limit", error(lambda: gatehouse.reserve(organisation, "api_calls", 1000000)))
say("set", [gatehouse.set_usage(organisation, "projects", 2)["used"], gatehouse.release(organisation, "projects")["used"]])
held = [gatehouse.hold(organisation, "api_calls", 60, 4, "h") for _ in range(2)]
say("hold", [held[0] == held[1], held[0]["used"], gatehouse.commit(held[0]["hold"])["used"], error(lambda: gatehouse.release_hold(held[0]["hold"]))])
say("given back", gatehouse.release_hold(gatehouse.hold(organisation, "api_calls", 60)["hold"])["used"])
say("late", error(lambda: gatehouse.set_usage(organisation, "projects", 5, "2020-01-01T00:00:00Z")))
say("report", gatehouse.report([{"organisation": organisation, "meter": "api_calls", "amount": 3}]))
say("organisations", organisation in [each["id"] for each in gatehouse.organisations()])
say("members", [each["role"] for each in gatehouse.members(organisation)])
say("changes", "organisation.approved" in [each["type"] for each in gatehouse.changes("0")["changes"]])
say("tokens", [gatehouse.token_for_session(cookie, "x")["token"].count("."), gatehouse.token_for_key()["token"].count("."), error(lambda: gatehouse.token_for_session("a=1"))])
say("unknown", error(lambda: gatehouse.entitlements("a/b")))
say("refused", error(lambda: Gatehouse(url, api_key="gh_test_no").entitlements(organisation)))
say("away", error(lambda: Gatehouse("http://127.0.0.1:9", timeout_seconds=1).session("session=x")))
gatehouse.end_session(cookie)
say("ended", gatehouse.session(cookie))
`;

function runPython(code: string, ...args: string[]) {
  const env = { ...environment, PYTHONPATH: fromRoot('packages/client-python') };
  return new Promise<{ stdout: string; stderr: string }>((resolve) => {
    const child = spawn(python, ['-c', code, ...args], { env });
    const printed = { stdout: '', stderr: '' };
    child.stdout.on('data', (part) => {
      printed.stdout += part;
    });
    child.stderr.on('data', (part) => {
      printed.stderr += part;
    });
    child.on('close', () => resolve(printed));
  });
}

describe('the Python client', () => {
  it('asks everything that it offers', async (context) => {
    if (!hasPython) context.skip('There is no python3 on this machine.');
    const { key } = await makeKey(test);
    const { stdout, stderr } = await runPython(everyFunction, owner.organisationId, cookie, served.url, key);
    expect(stderr).toBe('');
    const said = Object.fromEntries(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    );
    expect(said).toEqual({
      session: owner.email,
      'no session': [null, null, null],
      cookies: '__Host-session=x; __Secure-gatehouse=z',
      entitlements: owner.organisationId,
      check: true,
      reserve: [2, 2],
      limit: [403, 'LIMIT_REACHED', expect.any(Array)],
      set: [2, 1],
      hold: [true, 6, 6, [409, 'CONFLICT', null]],
      'given back': 6,
      late: [400, 'VALIDATION', { at: expect.any(String) }],
      report: { accepted: 1, duplicates: 0 },
      organisations: true,
      members: ['owner'],
      changes: true,
      tokens: [2, 2, [401, 'UNAUTHENTICATED', null]],
      unknown: [404, 'NOT_FOUND', null],
      refused: [401, 'UNAUTHENTICATED', null],
      away: [0, 'UNREACHABLE', null],
      ended: null,
    });
  });

  it.for([
    ['ends within its body', 'HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{', [0, 'UNREACHABLE']],
    ['is not HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', [0, 'UNREACHABLE']],
    ['is an error and ends within its body', 'HTTP/1.1 503 Busy\r\ncontent-length: 99\r\n\r\n{', [503, null]],
  ] as const)(
    'repeats a request whose answer %s, and raises a GatehouseError',
    async ([_, answer, expected], context) => {
      if (!hasPython) context.skip('There is no python3 on this machine.');
      let count = 0;
      const broken = createServer((socket) => {
        socket.on('error', () => {}).on('data', () => socket.end(answer));
        count += 1;
      });
      await new Promise<void>((resolve) => broken.listen(0, '127.0.0.1', resolve));
      const code = `
import json, sys
from gatehouse import Gatehouse, GatehouseError
try:
    Gatehouse(sys.argv[1], timeout_seconds=30, retries=1).session("session=x")
except GatehouseError as error:
    print(json.dumps([error.status, error.code]))
`;
      try {
        const { port } = broken.address() as AddressInfo;
        const { stdout, stderr } = await runPython(code, `http://127.0.0.1:${port}`);
        expect([stdout, stderr]).toEqual([`${JSON.stringify(expected).replace(',', ', ')}\n`, '']);
        expect(count).toBe(2);
      } finally {
        broken.close();
      }
    },
  );

  it('runs the sample of its README', async (context) => {
    if (!hasPython) context.skip('There is no python3 on this machine.');
    const readme = fs.readFileSync(fromRoot('packages/client-python/README.md'), 'utf8');
    const sample = /```python\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
    const again = `session=${await startSession(test.app, { ...owner, client: testClient })}`;
    const code = `${sample}\nimport sys\nprint(search(sys.argv[1], "x"))\nprint(search("", "x"))`;
    const { stdout, stderr } = await runPython(code, again);
    expect([stdout, stderr]).toEqual([
      expect.stringMatching(/^\(200, '\S+@\S+: \d+ of \d+'\)\n\(401, 'Sign in first\.'\)\n$/),
      '',
    ]);
  });
});
