import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
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
