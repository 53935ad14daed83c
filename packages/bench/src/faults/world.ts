import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startTcpProxy, type TcpProxy } from '@gatehouse/api/testing/database/tcp-proxy';
import { freePorts } from '@gatehouse/api/testing/free-ports';
import { haproxy } from '@gatehouse/api/testing/reverse-proxies';
import type { Sandbox } from '@gatehouse/sandbox/sandbox';
import { startTestSandbox } from '@gatehouse/sandbox/testing';
import { hash } from '@node-rs/argon2';
import postgres, { type Sql } from 'postgres';
import { insertData } from '../speed/data.ts';
import { type FaultyDatabase, openOwn } from './database.ts';
import type { Target } from './load.ts';
import { makeNode, type Node } from './node.ts';

const webhookSecret = 'whsec_bench';

/** Two nodes behind HAProxy. They reach database, mail server and payment provider through proxies that can cut them off. */
export type World<Database extends FaultyDatabase = FaultyDatabase> = Target & {
  nodes: Node[];
  database: Database;
  sandbox: Sandbox;
  databaseProxy: TcpProxy;
  mailProxy: TcpProxy;
  providerProxy: TcpProxy;
  /** The database itself, past the proxy. */
  withDatabase: <Result>(act: (sql: Sql) => Promise<Result>) => Promise<Result>;
  close: () => Promise<void>;
};

export const hasProxy = haproxy.isInstalled;

export async function openWorld(environment: NodeJS.ProcessEnv = {}): Promise<World> {
  return openWorldOn(await openOwn(), environment);
}

/** The same on another database. */
export async function openWorldOn<Database extends FaultyDatabase>(
  database: Database,
  environment: NodeJS.ProcessEnv = {},
): Promise<World<Database>> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-nodes-'));
  process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
  const sandbox = await startTestSandbox();
  const databaseProxy = await startTcpProxy(database.url);
  const mailProxy = await startTcpProxy(`postgres://${new URL(sandbox.smtpUrl).host}`);
  const providerProxy = await startTcpProxy(`postgres://${new URL(sandbox.url).host}`);
  const front = await freePorts(3);
  const [first, second] = [front + 1, front + 2];
  const env = {
    DATABASE_URL: databaseProxy.url(database.url),
    SMTP_URL: `smtp://127.0.0.1:${mailProxy.port}`,
    MAIL_FROM: 'no-reply@company.example',
    PAYMENT_API_URL: `http://127.0.0.1:${providerProxy.port}`,
    PAYMENT_SECRET_KEY: 'sk_test_sandbox',
    PAYMENT_WEBHOOK_SECRET: webhookSecret,
    PUBLIC_BASE_URL: `http://localhost:${front}`,
    RATE_LIMITS: 'off',
    GATEHOUSE_ENV_FILE: 'off',
    LOG_FORMAT: 'json',
    LOG_LEVEL: 'info',
    ...environment,
  };
  const nodes = [first, second].map((port) => makeNode({ ...env, PORT: String(port) }));
  await Promise.all(nodes.map((node) => node.start()));
  const proxy = await haproxy.start(folder, { nodes: [first, second], front });

  const world: World<Database> = {
    origin: `http://127.0.0.1:${front}`,
    nodes,
    database,
    owners: [],
    webhookSecret,
    sandbox,
    databaseProxy,
    mailProxy,
    providerProxy,
    async withDatabase(act) {
      const { searchParams } = new URL(database.url);
      const socket = searchParams.get('host');
      const options = { max: 1, onnotice: () => {}, ...(socket !== null && { host: socket }) };
      const sql = postgres(database.url.replace(/\?.*/, ''), options);
      return act(sql).finally(() => sql.end());
    },
    async close() {
      await Promise.all(nodes.map((node) => node.end('SIGTERM')));
      await proxy.stop();
      await Promise.all([databaseProxy.close(), mailProxy.close(), providerProxy.close()]);
      await database.stop();
      await sandbox.close();
    },
  };
  const passwordHash = await hash('a pass phrase for the bench', { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
  world.owners = await world.withDatabase((sql) => insertData(sql, passwordHash));
  return world;
}
