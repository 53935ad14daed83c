import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { type Account, postgresAccount } from './account.ts';
import { postgresFolder } from './binaries.ts';
import { dropStaleLocks } from './lock-file.ts';
import { clusterName, postgresEnvironment } from './run-command.ts';

export type Server = {
  pid: number;
  ended(): boolean;
  /** The server's output so far, which holds the reason of an early end. */
  printed(): string;
  stop(): Promise<void>;
};

const stopTimeoutMilliseconds = 15_000;
const logBytes = 1_000_000;

// A shell starts PostgreSQL and waits for the end of its standard input. The pipe closes when this
// process ends, also by kill -9, and the shell then sends SIGINT, PostgreSQL's fast shutdown.
const stopWhenInputEnds = `
"$@" >&2 &
pid=$!
trap "" INT TERM HUP
echo $pid
exec 3<&0 >&2
{ cat <&3 >/dev/null; kill -INT $pid; } &
wait $pid`;

/**
 * Starts PostgreSQL on the cluster. The server may end at once, for example because of the lock file.
 *
 * @throws Error if the machine has no room for another process.
 */
export async function startServer(cluster: string, sockets: string, settings: Record<string, string>): Promise<Server> {
  const account = postgresAccount(cluster);
  dropStaleLocks(cluster, sockets);
  const log = openLog(path.dirname(cluster));
  const child = spawn('/bin/sh', ['-c', stopWhenInputEnds, 'sh', ...command(account, cluster, sockets, settings)], {
    // In a separate session it does not receive the terminal's Ctrl-C.
    detached: true,
    stdio: ['pipe', 'pipe', log.descriptor],
    env: postgresEnvironment(),
    cwd: cluster,
    // Node enters the folder before it changes the user. The new user has no capabilities.
    ...account,
  }) as ChildProcessByStdio<Writable, Readable, null>;
  fs.closeSync(log.descriptor);
  await once(child, 'spawn');
  child.stdin.on('error', () => {});
  child.once('exit', () => child.stdin.destroy());
  const closed = once(child, 'close').then(() => Promise.reject(new Error('The shell of PostgreSQL ended at once.')));
  const [line] = await Promise.race([once(child.stdout, 'data'), closed]);
  const pid = Number.parseInt(String(line), 10);

  function ended() {
    return child.exitCode !== null || child.signalCode !== null;
  }
  return {
    pid,
    ended,
    printed: log.since,
    async stop() {
      if (ended()) return;
      child.stdin.end();
      const timeout = setTimeout(() => process.kill(pid, 'SIGQUIT'), stopTimeoutMilliseconds);
      await once(child, 'exit');
      clearTimeout(timeout);
    },
  };
}

function command(
  account: Account | null,
  cluster: string,
  sockets: string,
  settings: Record<string, string>,
): string[] {
  const binary = path.join(postgresFolder({ readableByAll: account !== null }), 'bin', 'postgres');
  const all = {
    listen_addresses: '',
    port: '5432',
    unix_socket_directories: `"${sockets}"`,
    unix_socket_permissions: '0700',
    timezone: 'UTC',
    // Statements and values are not logged, because they contain addresses.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    log_checkpoints: 'off',
    ...settings,
  };
  const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return [binary, '-D', clusterName(account, cluster), ...options];
}

function openLog(dataDir: string) {
  const file = path.join(dataDir, 'postgres.log');
  const before = fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const descriptor = fs.openSync(file, before > logBytes ? 'w' : 'a', 0o600);
  const start = fs.fstatSync(descriptor).size;
  return { descriptor, since: () => fs.readFileSync(file).subarray(start).toString() };
}
