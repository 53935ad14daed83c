import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const load = (file: string) => import(new URL(`../${file}`, import.meta.url).href);
const folders: string[] = [];
// biome-ignore lint/suspicious/noExplicitAny: the toolchain is plain JavaScript, because it runs before anything is installed.
let environment: any, secrets: any, demo: any;

beforeAll(async () => {
  environment = await load('environment.mjs');
  secrets = await load('sandbox-secrets.mjs');
  demo = await load('demo.mjs');
});
afterAll(() => {
  for (const folder of folders) fs.rmSync(folder, { recursive: true });
});

function emptyFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-demo-'));
  folders.push(folder);
  return folder;
}

describe('npm start', () => {
  it.each([
    ['DATABASE_URL', 'postgres://db.company.example/gatehouse'],
    ['HOST', '0.0.0.0'],
    ['HOST', '::'],
    ['HOST', '192.0.2.1'],
    ['PUBLIC_BASE_URL', 'https://id.company.example'],
    ['PUBLIC_BASE_URL', 'nowhere'],
  ])('refuses to start with %s=%s, and says why', (name, value) => {
    expect(() => environment.requireLoopback({ [name]: value })).toThrow(new RegExp(`^${name} is .*npm run serve\\.$`));
  });

  it('runs the sandbox alone only beside a service on this machine', async () => {
    const { sandbox } = await load('sandbox.mjs');
    await expect(sandbox(['https://id.company.example'])).rejects.toThrow('is not on this machine');
  });

  it.each(['127.0.0.1', 'localhost', '::1'])('starts with HOST=%s', (HOST) => {
    expect(() => environment.requireLoopback({ HOST, PUBLIC_BASE_URL: 'http://localhost:3000' })).not.toThrow();
  });

  it('creates secrets and passwords once per data directory, readable only by its owner', () => {
    const [one, other] = [emptyFolder(), emptyFolder()];
    const made = secrets.sandboxSecrets(one);
    const grown = secrets.sandboxSecrets(one, ['a@b.example']);

    expect(grown).toEqual({ ...made, passwords: { 'a@b.example': expect.stringMatching(/^demo-[0-9a-f]{12}$/) } });
    expect(secrets.sandboxSecrets(one, ['a@b.example'])).toEqual(grown);
    expect(fs.statSync(path.join(one, 'sandbox-secrets.json')).mode & 0o777).toBe(0o600);
    const { passwords, ...others } = secrets.sandboxSecrets(other, ['a@b.example']);
    expect(passwords).not.toEqual(grown.passwords);
    for (const [name, value] of Object.entries(others)) {
      expect(value).toMatch(/^(sandbox-|sk_test_)/);
      expect(value).not.toBe(grown[name]);
    }
  });

  it('gives the service its secrets, its data directory, and no .env file', () => {
    const dataDir = emptyFolder();
    const { idpClientSecret, paymentSecretKey, paymentWebhookSecret } = secrets.sandboxSecrets(dataDir);
    expect(environment.startEnvironment(4000, {}, dataDir)).toMatchObject({
      DATA_DIR: dataDir,
      IDP_CLIENT_SECRET: idpClientSecret,
      PAYMENT_SECRET_KEY: paymentSecretKey,
      PAYMENT_WEBHOOK_SECRET: paymentWebhookSecret,
      GATEHOUSE_ENV_FILE: 'off',
    });
  });
});

describe('an admin command', () => {
  it('works on the demo beside a running npm start, unless the environment names production', () => {
    const DATA_DIR = emptyFolder();
    fs.writeFileSync(path.join(DATA_DIR, 'npm-start.json'), JSON.stringify({ pid: process.pid, port: 4000 }));

    expect(demo.operatorEnvironment({ DATA_DIR })).toMatchObject({
      PAYMENT_API_URL: 'http://localhost:4001',
      DATA_DIR,
    });
    for (const named of [
      { DATA_DIR, DATABASE_URL: 'postgres://db.company.example/gatehouse' },
      { DATA_DIR, PUBLIC_BASE_URL: 'https://id.company.example' },
    ]) {
      expect(demo.operatorEnvironment(named)).toEqual(named);
    }
  });

  it('works on the configured database if no npm start runs', () => {
    const DATA_DIR = emptyFolder();
    fs.writeFileSync(path.join(DATA_DIR, 'npm-start.json'), JSON.stringify({ pid: 2 ** 22 - 1, port: 4000 }));
    expect(demo.operatorEnvironment({ DATA_DIR })).toEqual({ DATA_DIR });
  });
});
