import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePorts } from '@gatehouse/api/testing/free-ports';
import { test as base } from '@playwright/test';
import { type Approve, approvedByCommand, approvedByOperator } from './approval.ts';
import { cheapHashes } from './processes/cheap-hashes.ts';
import { makeDataDirectory } from './processes/data-directory.ts';
import { commandOf, kill, withDescendants } from './processes/processes.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const timeoutMilliseconds = 300_000;

/** A domain whose addresses are approved without an operator, in tests that share a service. */
export const approvedDomain = 'orchard.example';

/**
 * The secrets that the service and its sandbox share. They are fixed, so that tests can sign events
 * and search logs for them.
 */
export const sandboxSecrets = {
  IDP_CLIENT_SECRET: 'sandbox-client-secret',
  PAYMENT_SECRET_KEY: 'sk_test_sandbox',
  PAYMENT_WEBHOOK_SECRET: 'sandbox_webhook_secret',
};

/** The processes of `npm start`, by a pattern of their command line. */
const parts = {
  toolchain: /run\.mjs start/,
  service: /^\S*node .*apps\/server\/dist\/main\.js/,
  database: /^\S+\/postgres -D /,
};
export type Part = keyof typeof parts | 'everything';

export type Service = {
  /** The URL of the service, without a trailing slash. */
  baseUrl: string;
  /** The URL of the sandbox: /idp, /mailbox, the payment provider. */
  sandboxUrl: string;
  /** Runs an admin command and returns its output and exit code. */
  operator(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }>;
  /** Approves the organisations that the address owns. */
  approve: Approve;
  /** Returns the output so far, including the log. */
  printed(): string;
  /** Kills a part with SIGKILL, and restarts on the same data what is not restarted automatically. */
  crash(part?: Part): Promise<void>;
  stop(): Promise<void>;
};

/** A service of `npm start`. `suspend` stops its process, so that it answers nothing, until the returned function is called. */
export type StartedService = Service & { suspend: () => () => void };

/**
 * Starts what `npm start` starts, on free ports and with temporary data, without demo accounts
 * unless `demo` is true. Passwords are hashed at the lowest cost. `environment` overrides the
 * sandbox's settings. The command `example` starts examples/notes too.
 */
export async function startService({
  environment = {},
  demo = false,
  command = 'start',
  flags = [] as string[],
} = {}): Promise<StartedService> {
  const dataDir = makeDataDirectory();
  const port = await freePorts(5);
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    LOG_LEVEL: 'warn',
    RATE_LIMITS: 'off',
    ...cheapHashes,
    ...sandboxSecrets,
    ...environment,
    PORT: String(port),
    DATA_DIR: dataDir,
    // As if started by npm: it then ends when this process ends, even if it was killed.
    npm_lifecycle_event: 'e2e',
  };
  const start = () => toolchain([command, ...flags, ...(demo ? [] : ['--no-demo'])], env);
  let child = start();
  let printed = await up(child);

  const operator: Service['operator'] = (...args) => finish(toolchain(['operator', ...args], env));

  return {
    baseUrl: `http://localhost:${port}`,
    sandboxUrl: `http://localhost:${port + 1}`,
    operator,
    approve: approvedByCommand(operator),
    printed: () => printed(),
    suspend() {
      const [pid = 0] = withDescendants(child.pid ?? 0).filter((each) => parts.service.test(commandOf(each)));
      process.kill(pid, 'SIGSTOP');
      return () => void process.kill(pid, 'SIGCONT');
    },
    async crash(part = 'everything') {
      const all = withDescendants(child.pid ?? 0);
      const killed = part === 'everything' ? all : all.filter((pid) => parts[part].test(commandOf(pid)));
      if (killed.length === 0) throw new Error(`There is no process of the ${part}.`);
      // The service restarts the database; when any other part ends, all parts end.
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

/** Playwright's `test` with one service per worker. Relative URLs are those of the service. */
export const test = base.extend<object, { service: Service }>({
  service: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the requested fixtures.
    async ({}, use) => {
      const service = await startService({ environment: { APPROVED_DOMAINS: approvedDomain, LOCALES: 'en,de,fr' } });
      await use({ ...service, approve: approvedByOperator(service) });
      await service.stop();
    },
    { scope: 'worker', timeout: timeoutMilliseconds },
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
  // The command prints there which database it uses.
  return { code: code ?? 1, stdout, stderr: stderr.replace(/^Database: .*\n/m, '') };
}
