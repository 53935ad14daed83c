import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '@gatehouse/api/testing/free-ports';
import { openEmbedded } from '@gatehouse/embedded-postgres/embedded-postgres';
import { expect, test } from '../support/service.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { version: next } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
// As the build tells it: `npm test` builds without a commit, so that a new one needs no build.
const version = execFileSync(process.execPath, [path.join(root, 'apps/server/dist/main.js'), '--version'], {
  encoding: 'utf8',
}).trim();

test('the archive of npm run pack runs in an empty folder with Node alone', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-release-'));
  execFileSync(process.execPath, ['packages/toolchain/run.mjs', 'pack'], { cwd: root, stdio: 'pipe' });
  execFileSync('tar', ['-xzf', path.join(root, `gatehouse-${version}.tar.gz`), '-C', folder]);
  const release = path.join(folder, `gatehouse-${version}`);
  const database = await openEmbedded(path.join(folder, 'data'));
  const port = await freePort();
  // Every feature that loads code of its own is on. Nothing listens on port 9.
  const env = {
    PATH: '',
    PORT: String(port),
    DATABASE_URL: database.url,
    METRICS_TOKEN: 'a-metrics-token-of-a-story',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    SMTP_URL: 'smtp://127.0.0.1:9',
    PAYMENT_SECRET_KEY: 'sk_test_release',
    PAYMENT_API_URL: 'http://127.0.0.1:9',
    TOKEN_TTL_SECONDS: '300',
  };
  const operator = (...args: string[]) =>
    spawnSync(process.execPath, [path.join(release, 'operator.js'), ...args], { cwd: folder, env, encoding: 'utf8' });
  const healthOf = () => spawnSync(process.execPath, [path.join(release, 'healthcheck.js')], { env });
  const ask = (target: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${port}${target}`, init);

  expect(operator('--version').stdout).toBe(`${version}\n`);
  expect(operator('migrate')).toMatchObject({ status: 0 });
  const server = spawn(process.execPath, [path.join(release, 'server.js')], { cwd: folder, env, stdio: 'pipe' });
  let printed = '';
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (bytes) => (printed += bytes));
  try {
    await expect
      .poll(() =>
        ask('/readyz').then(
          ({ status }) => status,
          () => 0,
        ),
      )
      .toBe(200);
    const page = await (await ask('/login')).text();
    const [, style = ''] = /href="([^"]+\.css)"/.exec(page) ?? [];
    expect((await ask(style)).status).toBe(200);
    // The password is hashed by native code.
    const body = JSON.stringify({ email: 'first@company.example', password: 'a long enough pass phrase' });
    const headers = { 'content-type': 'application/json' };
    expect((await ask('/api/signup', { method: 'POST', headers, body })).status).toBe(200);
    expect(operator('users').stdout).toMatch(/^first@company\.example {2}unverified/);
    const metrics = await ask('/metrics', { headers: { authorization: 'Bearer a-metrics-token-of-a-story' } });
    expect(await metrics.text()).toContain('gatehouse_database_up 1');
    expect((await ask('/.well-known/jwks.json')).status).toBe(200);
    expect(healthOf().status).toBe(0);
    expect(operator('--help').stdout).toMatch(/^Usage: node operator\.js /);
    expect(printed).toContain(`"version":"${version}"`);

    server.kill('SIGTERM');
    expect((await once(server, 'exit'))[0]).toBe(0);
    expect(healthOf().status).toBe(1);
  } finally {
    server.kill('SIGKILL');
    await database.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  }
});

test.describe('@gatehouse/testing in the archive', () => {
  const exec = promisify(execFile);
  /** The folder of a product: it has the package of an unpacked release, and no other file of this repository. */
  let product: string;
  function write(name: string, text: string): void {
    fs.writeFileSync(path.join(product, name), text);
  }

  test.beforeAll(async () => {
    product = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-product-'));
    const pack = ['packages/toolchain/run.mjs', 'pack', '--embedded'];
    execFileSync(process.execPath, pack, { cwd: root, stdio: 'pipe' });
    execFileSync('tar', ['-xzf', path.join(root, `gatehouse-${version}.tar.gz`), '-C', product]);
    write('package.json', JSON.stringify({ name: 'product', private: true, type: 'module' }));
    const installed = `./gatehouse-${version}/lib/packages/testing`;
    await exec('npm', ['install', '--offline', '--no-audit', '--no-fund', installed], { cwd: product });
  });
  test.afterAll(() => fs.rmSync(product, { recursive: true, force: true }));

  test('a product starts the Gatehouse of an unpacked release, and a browser uses the cookies of its users', async ({
    browser,
  }) => {
    write(
      'start.js',
      `import { startGatehouse } from '@gatehouse/testing';
     const gatehouse = await startGatehouse();
     const [acme] = await gatehouse.seed({ organisations: ['Acme'], members: ['viewer'], plan: 'gold' });
     const { cookies } = await gatehouse.signInAs(acme.owner);
     console.log(JSON.stringify({ url: gatehouse.url, cookies, viewer: acme.members[0].email }));
     process.stdin.resume().once('end', async () => {
       await gatehouse.stop();
       process.stdin.destroy();
     });`,
    );
    const started = spawn(process.execPath, ['start.js'], { cwd: product, stdio: ['pipe', 'pipe', 'inherit'] });
    const [line] = await once(started.stdout, 'data');
    const { url, cookies, viewer } = JSON.parse(String(line));

    const context = await browser.newContext();
    await context.addCookies(cookies);
    const page = await context.newPage();
    await page.goto(`${url}/members`);
    await expect(page.getByText(viewer).first()).toBeVisible();
    await context.close();

    started.stdin.end();
    expect((await once(started, 'exit'))[0]).toBe(0);
    await expect(fetch(url)).rejects.toThrow();
  });

  test('publint and attw accept the package, and its types compile', async () => {
    const testing = path.join(root, 'packages/testing');
    const tools = path.join(root, 'packages/client/node_modules/.bin');
    await exec(path.join(tools, 'publint'), ['--strict', '.'], { cwd: testing });
    await exec(path.join(tools, 'attw'), ['--pack', '.', '--profile', 'esm-only'], { cwd: testing });
    write(
      'right.ts',
      `import { startGatehouse, type Cookie, type SeededUser } from '@gatehouse/testing';
     const gatehouse = await startGatehouse({ environment: { PLANS_FILE: 'plans.json' } });
     const [acme] = await gatehouse.seed({ organisations: ['Acme'], members: ['admin'], plan: 'gold' });
     export const owner: SeededUser | undefined = acme?.owner;
     export const cookies: Cookie[] = (await gatehouse.signInAs({ email: '', password: '' })).cookies;
     export const now: Date = await gatehouse.advance({ days: 1 });
     // @ts-expect-error There is no such role.
     await gatehouse.seed({ members: ['guest'] });`,
    );
    const library = { target: 'es2022', lib: ['es2022', 'dom'], types: [], skipDefaultLibCheck: true };
    const options = { module: 'nodenext', moduleResolution: 'nodenext', ...library, strict: true, noEmit: true };
    write('tsconfig.json', JSON.stringify({ compilerOptions: options, files: ['right.ts'] }));
    const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
    const compiled = await exec(process.execPath, [tsc, '-p', '.'], { cwd: product }).catch((error) => error);
    expect(compiled.stdout).toBe('');
  });
});

test('npm run pack writes the same archive from the same files, without source maps and PostgreSQL', () => {
  const file = path.join(root, `gatehouse-${version}.tar.gz`);
  const packed = () => {
    execFileSync(process.execPath, ['packages/toolchain/run.mjs', 'pack'], { cwd: root, stdio: 'pipe' });
    return fs.readFileSync(file);
  };
  const first = packed();
  expect(packed().equals(first)).toBe(true);
  expect(first.length).toBeLessThan(6_000_000);
  const names = execFileSync('tar', ['-tzf', file], { encoding: 'utf8' }).trim().split('\n');
  expect(version).toMatch(new RegExp(`^${next.replaceAll('.', '\\.')}(-dev(\\.[0-9a-f]{12}(\\.changed)?)?)?$`));
  for (const name of ['gatehouse.service', 'LICENSE', 'THIRD-PARTY-LICENSES.txt', 'gatehouse.cdx.json']) {
    expect(names).toContain(`gatehouse-${version}/${name}`);
  }
  expect(names.filter((name) => /\.map$|embedded-postgres\/|\.env$/.test(name))).toEqual([]);
});
