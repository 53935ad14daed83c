import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { clusterFolder } from '@gatehouse/embedded-postgres/cluster';
import { type Server, startServer } from '@gatehouse/embedded-postgres/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../../create-app.ts';
import { migrationsFolder } from '../../testing/database/database.ts';
import { parseConfig } from '../config.ts';
import { silentLog } from '../log.ts';
import { openDatabase } from './client.ts';
import { pingDatabase } from './health.ts';

// A server of its own, because passwords and TLS need TCP.
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-refusing-'));
let server: Server;
let admin: ReturnType<typeof openDatabase>;
let port = 0;

beforeAll(async () => {
  port = await freePort();
  const cluster = await clusterFolder(path.join(folder, 'data'));
  const rules = [
    'host all postgres 127.0.0.1/32 trust',
    'hostnossl tls_only all 127.0.0.1/32 reject',
    'hostssl plain_only all 127.0.0.1/32 reject',
    'host closed all 127.0.0.1/32 reject',
    'host all all 127.0.0.1/32 scram-sha-256',
  ];
  fs.writeFileSync(path.join(cluster, 'pg_hba.conf'), `${rules.join('\n')}\n`);
  makeCertificate(cluster);
  server = await startServer(cluster, cluster, {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    port: String(port),
    fsync: 'off',
  });
  admin = openDatabase({ url: address('postgres', 'postgres'), pool: 1, prepare: false });
  await until(() => pingDatabase(admin.sql).then(() => true));
  await admin.sql.unsafe("create role service login password 'right'");
  await admin.sql.unsafe("create role guest login password 'right'");
  for (const name of ['own', 'tls_only', 'plain_only', 'closed']) {
    await admin.sql.unsafe(`create database ${name} owner service`);
  }
});

afterAll(async () => {
  await admin.close();
  await server.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

function address(user: string, name: string, more = ''): string {
  return `postgres://${user}@127.0.0.1:${port}/${name}${more}`;
}

/** The sentence that ends the start of the service. */
async function failureOf(url: string): Promise<string> {
  const config = parseConfig({ DATABASE_URL: url });
  const app = await createApp({ config, migrations: migrationsFolder, work: true, log: silentLog }).catch(
    (error: Error) => error,
  );
  if (app instanceof Error) return app.message;
  await app.close();
  return 'started';
}

const refusals: [name: string, url: () => string, sentence: RegExp][] = [
  [
    'a wrong password',
    () => address('service:wrong', 'own'),
    /^The database refuses: password .* "service"\. Correct the user and the password in DATABASE_URL\.$/,
  ],
  [
    'an unknown user',
    () => address('stranger:right', 'own'),
    /^The database refuses: password .* "stranger"\. Correct the user and the password in DATABASE_URL\.$/,
  ],
  [
    'an unknown database',
    () => address('service:right', 'nowhere'),
    /^The database refuses: database "nowhere" does not exist\. Create the database, or correct DATABASE_URL\.$/,
  ],
  [
    'a user who may create nothing',
    () => address('guest:right', 'own'),
    /^The database refuses: permission denied for database own\. Make the user of DATABASE_URL the owner of its database\.$/,
  ],
  [
    'a user whom pg_hba.conf rejects',
    () => address('service:right', 'closed'),
    /^The database refuses: pg_hba\.conf rejects .*\. .*; else correct pg_hba\.conf or DATABASE_URL\.$/,
  ],
  [
    'TLS that the server does not have',
    () => address('service:right', 'own', '?sslmode=require'),
    /^The database has no TLS, and DATABASE_URL asks for it: .* remove sslmode from DATABASE_URL\.$/,
  ],
];

it.each(refusals)('%s ends the start with a sentence that names the remedy', async (_name, url, sentence) => {
  expect(await failureOf(url())).toMatch(sentence);
});

it('an unknown sslmode is refused, because the driver would verify nothing', () => {
  expect(() => parseConfig({ DATABASE_URL: address('a', 'b', '?sslmode=verify_full') })).toThrow(
    /^DATABASE_URL must have no sslmode, or disable, prefer, require or verify-full\.$/,
  );
});

describe.skipIf(spawnSync('openssl', ['version']).status !== 0)('where the server has TLS', () => {
  beforeAll(async () => {
    await admin.sql.unsafe('alter system set ssl = on');
    await admin.sql.unsafe('select pg_reload_conf()');
    await until(async () => (await admin.sql`select current_setting('ssl') as ssl`)[0]?.ssl === 'on');
  });

  const cases: [name: string, url: () => string, sentence: RegExp][] = [
    [
      'TLS that the server expects',
      () => address('service:right', 'tls_only'),
      /^The database refuses: .*no encryption\. If it accepts TLS only, add sslmode=verify-full .* to DATABASE_URL; .*$/,
    ],
    [
      'TLS that the server refuses',
      () => address('service:right', 'plain_only', '?sslmode=require'),
      /^The database refuses: .*SSL encryption\. If it accepts no TLS here, remove sslmode from DATABASE_URL; .*$/,
    ],
    [
      'a certificate of a private authority',
      () => address('service:right', 'own', '?sslmode=verify-full'),
      /^The database is not trusted: self-signed certificate\. Name .* NODE_EXTRA_CA_CERTS=.* DATABASE_URL\.$/,
    ],
  ];
  it.each(cases)('%s ends the start with a sentence that names the remedy', async (_name, url, sentence) => {
    expect(await failureOf(url())).toMatch(sentence);
  });

  it('the service starts with sslmode=require', async () => {
    expect(await failureOf(address('service:right', 'tls_only', '?sslmode=require'))).toBe('started');
  });
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 60_000; Date.now() < end; ) {
    if (await holds().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`PostgreSQL did not start. ${server.printed()}`);
}

function makeCertificate(cluster: string): void {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', 'server.key'];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const made = spawnSync('openssl', ['req', '-x509', '-days', '2', ...key, ...names, '-out', 'server.crt'], {
    cwd: cluster,
  });
  if (made.status !== 0) return;
  const { uid, gid } = fs.statSync(cluster);
  for (const name of ['server.key', 'server.crt']) {
    fs.chownSync(path.join(cluster, name), uid, gid);
    fs.chmodSync(path.join(cluster, name), 0o600);
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const listening = net.createServer().listen(0, '127.0.0.1', () => {
      const { port: free } = listening.address() as AddressInfo;
      listening.close(() => resolve(free));
    });
  });
}
