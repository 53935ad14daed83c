import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';

const folders = ['/usr/sbin', '/usr/bin', '/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/bin'];

/** Where a program of the machine's own is, beyond a user's PATH as well; undefined where it has none. */
export function findProgram(name: string): string | undefined {
  return folders.map((folder) => path.join(folder, name)).find(fs.existsSync);
}

type Options = {
  port: number;
  env?: NodeJS.ProcessEnv;
  /** What ends it at once. */
  signal?: NodeJS.Signals;
};

/** Runs a server in the foreground. It listens on its port when this resolves, and is gone when `stop` does. */
export async function startProgram(
  file: string,
  args: string[],
  { port, env = process.env, signal = 'SIGTERM' }: Options,
): Promise<{ stop: () => Promise<void> }> {
  const child = spawn(file, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  await listening(child, port);

  return {
    async stop() {
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
