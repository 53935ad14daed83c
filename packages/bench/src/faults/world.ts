import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openDatabase } from '@gatehouse/api/platform/db/client';
import { startTcpProxy, type TcpProxy } from '@gatehouse/api/testing/database/tcp-proxy';
import { freePorts } from '@gatehouse/api/testing/free-ports';
import { haproxy } from '@gatehouse/api/testing/reverse-proxies';
import type { Sandbox } from '@gatehouse/sandbox/sandbox';
import { startTestSandbox } from '@gatehouse/sandbox/testing';
import type { Sql } from 'postgres';
import { environmentOf } from '../clusters/deployment.ts';
import { insertOwners } from '../speed/data.ts';
import type { FaultyDatabase } from './database.ts';
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

export async function openWorld<Database extends FaultyDatabase>(database: Database): Promise<World<Database>> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-nodes-'));
  process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
  const sandbox = await startTestSandbox();
  const databaseProxy = await startTcpProxy(database.url);
  const mailProxy = await startTcpProxy(`postgres://${new URL(sandbox.smtpUrl).host}`);
  const providerProxy = await startTcpProxy(`postgres://${new URL(sandbox.url).host}`);
  const front = await freePorts(3);
  const [first, second] = [front + 1, front + 2];
  const env = {
    ...environmentOf(sandbox, `smtp://127.0.0.1:${mailProxy.port}`),
    DATABASE_URL: databaseProxy.url(database.url),
    PAYMENT_API_URL: `http://127.0.0.1:${providerProxy.port}`,
    PAYMENT_WEBHOOK_SECRET: webhookSecret,
    PUBLIC_BASE_URL: `http://localhost:${front}`,
  };
  const nodes = [first, second].map((port) => makeNode({ ...env, PORT: String(port) }));
  await Promise.all(nodes.map((node) => node.start()));
  const proxy = await haproxy.start(folder, { nodes: [first, second], front });

  return {
    origin: `http://127.0.0.1:${front}`,
    nodes,
    database,
    owners: await insertOwners(database.url),
    webhookSecret,
    sandbox,
    databaseProxy,
    mailProxy,
    providerProxy,
    async withDatabase(act) {
      const { sql, close } = openDatabase({ url: database.url, pool: 1, prepare: false });
      return act(sql).finally(close);
    },
    async close() {
      await Promise.all(nodes.map((node) => node.end('SIGTERM')));
      await proxy.stop();
      await Promise.all([databaseProxy.close(), mailProxy.close(), providerProxy.close()]);
      await database.stop();
      await sandbox.close();
    },
  };
}
