import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '@gatehouse/api/testing/free-ports';
import { type Use, useOf } from './process-use.ts';

export type Program = {
  origin: string;
  pid: number;
  /** From the start of the process to the first 200. */
  startMilliseconds: number;
  use: () => Use | null;
  stop: () => Promise<void>;
};

/**
 * Starts a Node program on a free port and resolves at its first answer of 200 on `path`.
 *
 * @throws Error if it ends or does not answer within 20 s.
 */
export async function startProgram(
  file: string,
  env: NodeJS.ProcessEnv,
  path: string,
  options: string[] = [],
): Promise<Program> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const started = performance.now();
  const child = spawn(process.execPath, [...options, ...nodeOptions(), file], {
    env: { ...process.env, NODE_ENV: 'production', HOST: '127.0.0.1', PORT: String(port), ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await untilAnswered(child, origin + path, { seconds: 20, everyMilliseconds: 5 });

  const { pid = 0 } = child;
  return {
    origin,
    pid,
    startMilliseconds: performance.now() - started,
    use: () => useOf(pid),
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

/** Returns Node's options for the measured programs, for example `--cpu-prof` to profile them. */
function nodeOptions(): string[] {
  return (process.env.BENCH_NODE_OPTIONS ?? '').split(' ').filter(Boolean);
}

/** Resolves at the first 200 of a program. @throws Error if it ends or does not answer in time; it is killed then. */
export async function untilAnswered(
  child: ChildProcess,
  url: string,
  { seconds, everyMilliseconds }: { seconds: number; everyMilliseconds: number },
): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  while (child.exitCode === null && performance.now() < deadline) {
    const response = await fetch(url).catch(() => null);
    await response?.arrayBuffer().catch(() => {});
    if (response?.status === 200) return;
    await pause(everyMilliseconds);
  }
  child.kill('SIGKILL');
  throw new Error(`${child.spawnargs.at(-1)} does not answer on ${url}.`);
}
