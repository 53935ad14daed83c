import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { test as base } from '@playwright/test';
import { threeFreePorts } from './free-port.ts';
import { commandOf, kill, withDescendants } from './processes.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const patienceMilliseconds = 60_000;

/** A domain whose addresses need no operator, where tests share a service. */
export const approvedDomain = 'orchard.example';

/** What the service and its sandbox share: known here, so that tests can sign events and look for them in logs. */
export const sandboxSecrets = {
  IDP_CLIENT_SECRET: 'sandbox-client-secret',
  PAYMENT_SECRET_KEY: 'sandbox_secret_key',
  PAYMENT_WEBHOOK_SECRET: 'sandbox_webhook_secret',
};

/** The processes behind `npm start`: of each, what names it among the others. */
const parts = { toolchain: /run\.mjs start/, service: /apps\/server\/dist\/main\.js/, database: /^\S+\/postgres -D / };
export type Part = keyof typeof parts | 'everything';

export type Service = {
  /** The service, without a slash at the end. */
  baseUrl: string;
  /** The sandbox beside it: /idp, /mailbox, the payment provider. */
  sandboxUrl: string;
  /** The operator's command line. What it printed and its exit code. */
  operator(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }>;
  /** Everything that it has printed so far, the log included. */
  printed(): string;
  /** Kills that part of it with -9, and starts on the same data what does not come back by itself. */
  crash(part?: Part): Promise<void>;
  stop(): Promise<void>;
};

/**
 * What `npm start` starts, on free ports and with data of its own that are gone
 * afterwards. No demo accounts, unless `demo`; `environment` wins over the
 * sandbox's settings.
 */
export async function startService({ environment = {}, demo = false } = {}): Promise<Service> {
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-e2e-'));
  const port = await threeFreePorts();
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    LOG_LEVEL: 'warn',
    RATE_LIMITS: 'off',
    ...sandboxSecrets,
    ...environment,
    PORT: String(port),
    DATA_DIR: dataDir,
    // As if by npm: it then ends when this process is gone, however that happened.
    npm_lifecycle_event: 'e2e',
  };
  const start = () => toolchain(['start', ...(demo ? [] : ['--no-demo'])], env);
  let child = start();
  let printed = await up(child);

  return {
    baseUrl: `http://localhost:${port}`,
    sandboxUrl: `http://localhost:${port + 1}`,
    operator: (...args) => finish(toolchain(['operator', ...args], env)),
    printed: () => printed(),
    async crash(part = 'everything') {
      const all = withDescendants(child.pid ?? 0);
      const killed = part === 'everything' ? all : all.filter((pid) => parts[part].test(commandOf(pid)));
      if (killed.length === 0) throw new Error(`There is no process of the ${part}.`);
      // The database comes back by itself; anything else takes the rest with it.
      const ending = part === 'database' ? killed.flatMap(withDescendants) : all;
      for (const pid of killed) kill(pid);
      while (ending.some((pid) => commandOf(pid) !== '')) await pause(50);
      if (part === 'database') return;

      child = start();
      printed = await up(child);
    },
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      fs.rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Playwright's `test` with one service for all stories of a worker; relative addresses are its own. */
export const test = base.extend<object, { service: Service }>({
  service: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures that are asked for.
    async ({}, use) => {
      const service = await startService({ environment: { APPROVED_DOMAINS: approvedDomain } });
      await use(service);
      await service.stop();
    },
    { scope: 'worker', timeout: patienceMilliseconds },
  ],
  baseURL: ({ service }, use) => use(service.baseUrl),
});

export { expect } from '@playwright/test';

function toolchain(args: string[], env: NodeJS.ProcessEnv): ChildProcess {
  return spawn(process.execPath, ['packages/toolchain/run.mjs', ...args], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function up(child: ChildProcess): Promise<() => string> {
  let printed = '';
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`The service did not start (exit code ${code}):\n${printed}`)));
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (bytes) => {
        printed += bytes;
        if (printed.includes('Gatehouse is up.')) resolve();
      });
    }
  });
  return () => printed;
}

async function finish(child: ChildProcess): Promise<{ code: number; stdout: string; stderr: string }> {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (bytes) => {
    stdout += bytes;
  });
  child.stderr?.on('data', (bytes) => {
    stderr += bytes;
  });
  const [code] = await once(child, 'close');
  // The operator's command says there which database it works on.
  return { code: code ?? 1, stdout, stderr: stderr.replace(/^Database: .*\n/m, '') };
}
