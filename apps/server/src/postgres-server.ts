import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { postgresAccount, runAs } from './postgres-account.ts';
import { everybodyEnters, postgresFolder } from './postgres-binaries.ts';
import { explain } from './postgres-complaint.ts';

export type Server = {
  pid: number;
  ended(): boolean;
  /** Whether it ended over the leavings of another server, which may be gone in a moment. */
  blocked(): boolean;
  /** Why it ended, as a sentence. */
  complaint(): string;
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
  dropStaleLock(cluster);
  const log = openLog(path.dirname(cluster));
  const child = spawn('/bin/sh', ['-c', untilInputEnds, 'sh', ...command(cluster, sockets, settings)], {
    // A session of its own keeps the terminal's Ctrl-C away from it.
    detached: true,
    stdio: ['pipe', 'pipe', log.descriptor],
    env: postgresEnvironment(),
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
    blocked: () => /lock file|shared memory/i.test(log.since()),
    complaint: () => explain(log.since(), path.dirname(cluster)),
    async stop() {
      if (ended()) return;
      child.stdin.end();
      const late = setTimeout(() => process.kill(pid, 'SIGQUIT'), patienceMilliseconds);
      await once(child, 'exit');
      clearTimeout(late);
    },
  };
}

/** The service's secrets are none of PostgreSQL's business, and PGPORT or PGDATA would change what it does. */
export function postgresEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };
}

function command(cluster: string, sockets: string, settings: Record<string, string>): string[] {
  const account = postgresAccount(cluster);
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
  return runAs(account, [binary, '-D', cluster, ...options], !everybodyEnters(path.dirname(cluster)));
}

/**
 * After a crash the lock file's process id may be somebody else's by now: in a
 * container the numbers come round at every start, and PostgreSQL would refuse for ever.
 */
function dropStaleLock(cluster: string): void {
  const file = path.join(cluster, 'postmaster.pid');
  try {
    const pid = Number.parseInt(fs.readFileSync(file, 'utf8'), 10);
    if (fs.readFileSync(`/proc/${pid}/comm`, 'utf8').trim() !== 'postgres') fs.rmSync(file);
  } catch {}
}

function openLog(dataDir: string) {
  const file = path.join(dataDir, 'postgres.log');
  const before = fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const descriptor = fs.openSync(file, before > logBytes ? 'w' : 'a', 0o600);
  const start = fs.fstatSync(descriptor).size;
  return { descriptor, since: () => fs.readFileSync(file).subarray(start).toString() };
}
