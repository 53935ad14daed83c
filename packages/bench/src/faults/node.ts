import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { untilAnswered } from '../speed/program.ts';

const serviceFile = path.resolve(import.meta.dirname, '../../../../apps/server/dist/main.js');
const operatorFile = path.resolve(import.meta.dirname, '../../../../apps/server/dist/operator.js');

/** The production build of the service, as a process. */
export type Node = {
  /** Resolves when /readyz answers 200. The variables replace those of the last start. */
  start: (env?: NodeJS.ProcessEnv) => Promise<void>;
  end: (signal: NodeJS.Signals) => Promise<void>;
  /** Resolves when /readyz answers 200. */
  recovers: () => Promise<void>;
  /** Returns the lines of its log about the database. */
  databaseLines: () => string[];
};

export function makeNode(env: NodeJS.ProcessEnv & { PORT: string }): Node {
  let variables: NodeJS.ProcessEnv = env;
  let child: ChildProcess | null = null;
  let printed = '';
  // Past the proxy.
  const isReady = (started: ChildProcess) =>
    untilAnswered(started, `http://127.0.0.1:${env.PORT}/readyz`, { seconds: 60, everyMilliseconds: 50 });
  return {
    async start(changed = {}) {
      variables = { ...variables, ...changed };
      child = spawn(process.execPath, [serviceFile], {
        env: { ...process.env, NODE_ENV: 'production', HOST: '127.0.0.1', ...variables },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      child.stdout?.on('data', (bytes) => {
        printed += bytes;
      });
      const started = child;
      process.once('exit', () => started.kill('SIGKILL'));
      await isReady(child);
    },
    async end(signal) {
      if (child === null || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
    },
    async recovers() {
      if (child !== null) await isReady(child);
    },
    databaseLines: () => printed.split('\n').filter((line) => /The database is (un)?available/.test(line)),
  };
}

/** Restarts one node after the other, each with these variables, while the proxy passes requests to the rest. */
export async function restartInTurn(nodes: Node[], env: NodeJS.ProcessEnv = {}): Promise<void> {
  for (const node of nodes) {
    await node.end('SIGTERM');
    await node.start(env);
    // The proxy probes every second, and has to see the node before the next one ends.
    await pause(2_500);
  }
}

/** Runs an admin command and returns what it printed. @throws Error if it failed. */
export async function runOperator(args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(process.execPath, [operatorFile, ...args], { env: { ...process.env, ...env }, stdio: 'pipe' });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (printed += bytes));
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`operator ${args.join(' ')} failed: ${printed}`);
  return printed;
}
