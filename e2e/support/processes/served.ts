import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeDataDirectory } from './data-directory.ts';
import { killAll } from './processes.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const timeoutMilliseconds = 300_000;

export type ServiceProcess = {
  /** The port on which the process listens, also behind a proxy. */
  port: number;
  operator: (...args: string[]) => Promise<number>;
  /** Returns its output so far, including the log. */
  printed: () => string;
  /** Kills it with SIGKILL. */
  crash: () => Promise<void>;
  stop: () => Promise<void>;
};

/**
 * Starts what `npm run serve` starts: the production service without the sandbox, on a database of
 * its own unless one is given.
 */
export async function startServed(port: number, environment: Record<string, string>): Promise<ServiceProcess> {
  const dataDir = makeDataDirectory();
  const env = {
    ...process.env,
    LOG_LEVEL: 'warn',
    RATE_LIMITS: 'off',
    ...environment,
    PORT: String(port),
    DATA_DIR: dataDir,
    npm_lifecycle_event: 'e2e',
  };
  const { scripts } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  const child = spawn('/bin/sh', ['-c', scripts.serve], { cwd: root, env, stdio: 'pipe' });
  const printed = await ready(child, port, environment.HOST ?? '127.0.0.1');

  function toolchain(...args: string[]) {
    return spawn(process.execPath, ['packages/toolchain/run.mjs', ...args], { cwd: root, env, stdio: 'pipe' });
  }

  return {
    port,
    async operator(...args) {
      const [code] = await once(toolchain('operator', ...args), 'close');
      return code;
    },
    printed,
    async crash() {
      const ended = once(child, 'exit');
      killAll(child.pid ?? 0);
      await ended;
    },
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      fs.rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function ready(child: ChildProcess, port: number, host: string): Promise<() => string> {
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (bytes) => {
      printed += bytes;
    });
  }
  const address = `http://${host.includes(':') ? `[${host}]` : host}:${port}/readyz`;
  for (const end = Date.now() + timeoutMilliseconds; Date.now() < end; ) {
    if (child.exitCode !== null) break;
    const answer = await fetch(address).catch(() => null);
    if (answer?.ok) return () => printed;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`The service did not start:\n${printed}`);
}
