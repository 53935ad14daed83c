import fs from 'node:fs';
import path from 'node:path';

/** Returns the process id in the cluster's lock file; null if there is no such file. */
export function lockHolder(cluster: string): number | null {
  return readPid(path.join(cluster, 'postmaster.pid'));
}

/** Whether a running server uses this cluster. While it shuts down, nothing listens on its socket. */
export function isServed(cluster: string): boolean {
  const pid = lockHolder(cluster);
  return pid !== null && isServerOf(cluster, pid) === true;
}

/**
 * Removes the lock files of a server that no longer runs. After a crash their process id may belong
 * to another process (in a container the numbers start again), and PostgreSQL would then not start.
 */
export function dropStaleLocks(cluster: string, sockets: string): void {
  for (const file of [path.join(cluster, 'postmaster.pid'), path.join(sockets, '.s.PGSQL.5432.lock')]) {
    const pid = readPid(file);
    if (pid !== null && isServerOf(cluster, pid) === false) fs.rmSync(file, { force: true });
  }
}

/** Null if /proc does not show it: PostgreSQL's own check then decides. */
function isServerOf(cluster: string, pid: number): boolean | null {
  try {
    const isPostgres = fs.readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'postgres';
    return isPostgres && fs.readlinkSync(`/proc/${pid}/cwd`) === cluster;
  } catch {
    return null;
  }
}

function readPid(file: string): number | null {
  try {
    // A standalone server writes its number with a minus.
    return Math.abs(Number.parseInt(fs.readFileSync(file, 'utf8'), 10)) || null;
  } catch {
    return null;
  }
}
