import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'sandbox-'));
});
afterAll(() => rm(dataDir, { recursive: true }));

const { PATH, NODE_COMPILE_CACHE = '' } = process.env;
const environment = {
  PATH,
  NODE_COMPILE_CACHE,
  SANDBOX_PORT: '0',
  SANDBOX_SMTP_PORT: '0',
  PUBLIC_BASE_URL: 'http://localhost:3000',
  IDP_CLIENT_ID: 'sandbox-client',
  IDP_CLIENT_SECRET: 'sandbox_client_secret',
  PAYMENT_SECRET_KEY: 'sk_test_sandbox',
  PAYMENT_WEBHOOK_SECRET: 'sandbox_webhook_secret',
};

test('the process prints ready, and ends with code 0 on a signal', async () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const child = start({ SANDBOX_DATA_DIR: join(dataDir, signal) });
    expect(String((await once(child.stdout, 'data'))[0])).toBe('ready\n');
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([0, null]);
  }
});

test('with a wrong variable the process does not start, and prints one sentence', async () => {
  const child = start({ SANDBOX_DATA_DIR: dataDir, PUBLIC_BASE_URL: 'https://gatehouse.example' });
  const printed = child.stderr.toArray();
  expect(await once(child, 'exit')).toEqual([1, null]);
  expect(Buffer.concat((await printed) as Buffer[]).toString()).toMatch(/^[^\n]*must be on localhost[^\n]*\n$/);
});

function start(changes: Record<string, string>) {
  return spawn(process.execPath, [join(import.meta.dirname, 'main.ts')], { env: { ...environment, ...changes } });
}
