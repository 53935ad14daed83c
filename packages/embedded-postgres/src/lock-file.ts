import fs from 'node:fs';
import path from 'node:path';

/** The process id that the cluster's lock file names; null where there is none. */
export function lockHolder(cluster: string): number | null {
  return readPid(path.join(cluster, 'postmaster.pid'));
}

/** Whether a server that lives has this cluster, though nothing may listen on its socket (it is ending). */
export function isServed(cluster: string): boolean {
  const pid = lockHolder(cluster);
  return pid !== null && isServerOf(cluster, pid) === true;
}

/**
 * Removes the lock files of a server that is gone. After a crash their process id may belong to
 * another process: in a container the numbers begin anew at each start, and PostgreSQL would
 * refuse each of them.
 */
export function dropStaleLocks(cluster: string, sockets: string): void {
  for (const file of [path.join(cluster, 'postmaster.pid'), path.join(sockets, '.s.PGSQL.5432.lock')]) {
    const pid = readPid(file);
    if (pid !== null && isServerOf(cluster, pid) === false) fs.rmSync(file, { force: true });
  }
}

/** Null where the system does not say: PostgreSQL's own check then decides. */
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
