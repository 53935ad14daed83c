import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const patienceMilliseconds = 30_000;

export type Served = {
  /** Where the process itself listens, which no browser sees behind a proxy. */
  port: number;
  operator: (...args: string[]) => Promise<number>;
  stop: () => Promise<void>;
};

/** What `npm run serve` starts: production, with a database of its own and nothing of the sandbox. */
export async function startServed(port: number, environment: Record<string, string>): Promise<Served> {
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-served-'));
  const env = {
    ...process.env,
    LOG_LEVEL: 'warn',
    RATE_LIMITS: 'off',
    ...environment,
    PORT: String(port),
    DATA_DIR: dataDir,
    npm_lifecycle_event: 'e2e',
  };
  const child = toolchain('serve');
  await ready(child, port, environment.HOST ?? '127.0.0.1');

  function toolchain(...args: string[]) {
    return spawn(process.execPath, ['packages/toolchain/run.mjs', ...args], { cwd: root, env, stdio: 'pipe' });
  }

  return {
    port,
    async operator(...args) {
      const [code] = await once(toolchain('operator', ...args), 'close');
      return code;
    },
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      fs.rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function ready(child: ChildProcess, port: number, host: string): Promise<void> {
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (bytes) => {
      printed += bytes;
    });
  }
  const address = `http://${host.includes(':') ? `[${host}]` : host}:${port}/readyz`;
  for (const end = Date.now() + patienceMilliseconds; Date.now() < end; ) {
    if (child.exitCode !== null) break;
    const answer = await fetch(address).catch(() => null);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`The service did not start:\n${printed}`);
}
