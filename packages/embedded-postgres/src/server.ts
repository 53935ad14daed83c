import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { type Account, postgresAccount } from './account.ts';
import { postgresFolder } from './binaries.ts';
import { dropStaleLocks } from './lock-file.ts';
import { clusterName, postgresEnvironment } from './run-once.ts';

export type Server = {
  pid: number;
  ended(): boolean;
  /** Everything that it has printed: after an early end, the reason. */
  printed(): string;
  stop(): Promise<void>;
};

const patienceMilliseconds = 15_000;
const logBytes = 1_000_000;

// PostgreSQL runs behind a shell that waits for the end of its standard input: the pipe ends with this
// process, however that ends, and PostgreSQL then gets its orderly SIGINT.
const untilInputEnds = `
"$@" >&2 &
pid=$!
trap "" INT TERM HUP
echo $pid
exec 3<&0 >&2
{ cat <&3 >/dev/null; kill -INT $pid; } &
wait $pid`;

/** Starts PostgreSQL on the cluster; it may well end at once, for example over the lock file. */
export async function startServer(cluster: string, sockets: string, settings: Record<string, string>): Promise<Server> {
  const account = postgresAccount(cluster);
  dropStaleLocks(cluster, sockets);
  const log = openLog(path.dirname(cluster));
  const child = spawn('/bin/sh', ['-c', untilInputEnds, 'sh', ...command(account, cluster, sockets, settings)], {
    // A session of its own keeps the terminal's Ctrl-C away from it.
    detached: true,
    stdio: ['pipe', 'pipe', log.descriptor],
    env: postgresEnvironment(),
    cwd: cluster,
    // Node changes the user after it has entered the folder. No capability outlives that change.
    ...account,
  }) as ChildProcessByStdio<Writable, Readable, null>;
  fs.closeSync(log.descriptor);
  child.stdin.on('error', () => {});
  child.once('exit', () => child.stdin.destroy());
  const [line] = await once(child.stdout, 'data');
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
      const late = setTimeout(() => process.kill(pid, 'SIGQUIT'), patienceMilliseconds);
      await once(child, 'exit');
      clearTimeout(late);
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
    // Statements and values stay out of the log: there are addresses among them.
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
