import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';

const folders = ['/usr/sbin', '/usr/bin', '/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/bin'];

/**
 * Returns the path of a program that is installed on this machine, also outside PATH; undefined if
 * there is none.
 */
export function findProgram(name: string): string | undefined {
  return folders.map((folder) => path.join(folder, name)).find(fs.existsSync);
}

type Options = {
  port: number;
  env?: NodeJS.ProcessEnv;
  /** The signal that stops it. */
  signal?: NodeJS.Signals;
};

/** Runs a server in the foreground. Resolves when it listens on its port; `stop` resolves when it has ended. */
export async function startProgram(
  file: string,
  args: string[],
  { port, env = process.env, signal = 'SIGTERM' }: Options,
): Promise<{ stop: () => Promise<void> }> {
  const child = spawn(file, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  await listening(child, port);

  return {
    async stop() {
      process.off('exit', kill);
      child.kill(signal);
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

async function listening(child: ChildProcess, port: number): Promise<void> {
  let printed = '';
  child.stderr?.on('data', (bytes) => {
    printed += bytes;
  });
  for (let attempt = 0; attempt < 200 && child.exitCode === null; attempt++) {
    if (await answers(port)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  child.kill('SIGKILL');
  throw new Error(`${child.spawnfile} does not listen: ${printed}`);
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.end();
      resolve(true);
    });
  });
}
