import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startTcpProxy, type TcpProxy } from '@gatehouse/api/testing/database/tcp-proxy';
import { haproxy } from '@gatehouse/api/testing/reverse-proxies';
import { type Embedded, openEmbedded } from '@gatehouse/embedded-postgres/embedded-postgres';
import type { Sandbox } from '@gatehouse/sandbox/sandbox';
import { startTestSandbox } from '@gatehouse/sandbox/testing';
import { hash } from '@node-rs/argon2';
import postgres, { type Sql } from 'postgres';
import { insertData, type Owner } from '../speed/data.ts';

export const webhookSecret = 'whsec_bench';
const productFile = path.resolve(import.meta.dirname, '../../../../apps/server/dist/main.js');

/** Two nodes behind HAProxy, each of whose other systems is reached by way of a proxy that can cut it. */
export type World = {
  origin: string;
  nodes: Node[];
  owners: Owner[];
  sandbox: Sandbox;
  databaseProxy: TcpProxy;
  mailProxy: TcpProxy;
  providerProxy: TcpProxy;
  /** The database itself, past the proxy. */
  withDatabase: <Result>(act: (sql: Sql) => Promise<Result>) => Promise<Result>;
  /** The folder of the database, on a file system of its own if root can mount one. */
  folder: string;
  isMounted: boolean;
  postmaster: () => number;
  reopenDatabase: () => Promise<void>;
  close: () => Promise<void>;
};

export type Node = {
  start: () => Promise<void>;
  end: (signal: NodeJS.Signals) => Promise<void>;
  /** Lines of its log about the database. */
  episodes: () => string[];
};

export const hasProxy = haproxy.isInstalled;

export async function openWorld(): Promise<World> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-faults-'));
  const isMounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=400m,mode=0755', 'none', folder]);
  let database: Embedded = await openEmbedded(folder);
  const sandbox = await startTestSandbox();
  const databaseProxy = await startTcpProxy(database.url);
  const mailProxy = await startTcpProxy(`postgres://${new URL(sandbox.smtpUrl).host}`);
  const providerProxy = await startTcpProxy(`postgres://${new URL(sandbox.url).host}`);
  const [first = 0, second = 0, front = 0] = await freePorts(3);
  const env = {
    DATABASE_URL: databaseProxy.url(database.url),
    SMTP_URL: `smtp://127.0.0.1:${mailProxy.port}`,
    MAIL_FROM: 'no-reply@company.example',
    PAYMENT_API_URL: `http://127.0.0.1:${providerProxy.port}`,
    PAYMENT_SECRET_KEY: 'sandbox_secret_key',
    PAYMENT_WEBHOOK_SECRET: webhookSecret,
    PUBLIC_BASE_URL: `http://localhost:${front}`,
    RATE_LIMITS: 'off',
    GATEHOUSE_ENV_FILE: 'off',
    LOG_FORMAT: 'json',
    LOG_LEVEL: 'info',
  };
  const nodes = [first, second].map((port) => makeNode({ ...env, PORT: String(port) }));
  await Promise.all(nodes.map((node) => node.start()));
  const proxy = await haproxy.start(folder, { nodes: [first, second], front });

  const world: World = {
    origin: `http://127.0.0.1:${front}`,
    nodes,
    owners: [],
    sandbox,
    databaseProxy,
    mailProxy,
    providerProxy,
    async withDatabase(act) {
      const host = new URL(database.url).searchParams.get('host') ?? '';
      const sql = postgres(database.url.replace(/\?.*/, ''), { host, max: 1, onnotice: () => {} });
      return act(sql).finally(() => sql.end());
    },
    folder,
    isMounted,
    postmaster: () => Number.parseInt(fs.readFileSync(path.join(folder, 'postgres', 'postmaster.pid'), 'utf8'), 10),
    async reopenDatabase() {
      database = await openEmbedded(folder);
    },
    async close() {
      await Promise.all(nodes.map((node) => node.end('SIGTERM')));
      await proxy.stop();
      await Promise.all([databaseProxy.close(), mailProxy.close(), providerProxy.close()]);
      await database.stop();
      await sandbox.close();
      if (isMounted) await run('umount', [folder]);
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
  const passwordHash = await hash('a pass phrase for the bench', { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
  world.owners = await world.withDatabase((sql) => insertData(sql, passwordHash));
  return world;
}

function makeNode(env: NodeJS.ProcessEnv): Node {
  let child: ChildProcess;
  let printed = '';
  return {
    async start() {
      child = spawn(process.execPath, [productFile], {
        env: { ...process.env, NODE_ENV: 'production', HOST: '127.0.0.1', ...env },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      child.stdout?.on('data', (bytes) => {
        printed += bytes;
      });
      await isReady(`http://127.0.0.1:${env.PORT}/readyz`);
    },
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
    },
    episodes: () => printed.split('\n').filter((line) => /The database is (un)?available/.test(line)),
  };
}

async function isReady(url: string): Promise<void> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; ) {
    const answer = await fetch(url).catch(() => null);
    if (answer?.ok) return;
    await pause(50);
  }
  throw new Error(`${url} does not answer.`);
}

/** Whether a command ended with 0. */
export async function run(command: string, args: string[]): Promise<boolean> {
  const child = spawn(command, args, { stdio: 'ignore' });
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
  });
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => net.createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as net.AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
