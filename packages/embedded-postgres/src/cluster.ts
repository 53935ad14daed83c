import fs from 'node:fs';
import path from 'node:path';
import { type Account, giveTo, postgresAccount } from './account.ts';
import { postgresFolder } from './binaries.ts';
import { explain, explainFolder } from './complaint.ts';
import { makeFolder } from './make-folder.ts';
import { makeRoles, superuser, upgradeRoles } from './roles.ts';
import { clusterName, runOnce } from './run-once.ts';

const initdbFlags = [
  '--auth=reject',
  `--username=${superuser}`,
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
];

/**
 * The cluster below the data directory, made at the first start with its
 * database. It is made aside and renamed, so that a start that was killed, or
 * two starts at once, never leave or see half of one. With `createDatabases` the service's
 * role of a new cluster may create databases besides its own, as tests do.
 */
export async function clusterFolder(dataDir: string, { createDatabases = false } = {}): Promise<string> {
  const cluster = path.join(usable(dataDir), 'postgres');
  // Another user's, in a folder that is open to all, would look like none.
  if (fs.existsSync(cluster)) usable(cluster);
  if (fs.existsSync(path.join(cluster, 'PG_VERSION'))) return cluster;

  const account = postgresAccount(cluster);
  const unfinished = unfinishedFolder(cluster, account);
  try {
    await initialise(unfinished, account, createDatabases);
    fs.renameSync(unfinished, cluster);
  } catch (error) {
    if (fs.existsSync(path.join(cluster, 'PG_VERSION'))) return cluster;
    const { stderr, message } = error as Error & { stderr?: string };
    throw new Error(`The database could not be made. ${explain(stderr || message, dataDir)}`, { cause: error });
  } finally {
    fs.rmSync(unfinished, { recursive: true, force: true });
  }
  return cluster;
}

/**
 * Gives a cluster, which no server may be using, its own operating-system user, roles and access
 * rules, where an earlier version made it. Rejects with PostgreSQL's words as `stderr`.
 */
export async function prepareCluster(cluster: string): Promise<void> {
  const account = postgresAccount(cluster);
  if (account) giveTo(account, cluster);
  await upgradeRoles(account, cluster);
}

function usable(dataDir: string): string {
  try {
    makeFolder(dataDir);
    fs.accessSync(dataDir, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
    return fs.realpathSync(dataDir);
  } catch (error) {
    const sentence = explainFolder(error as NodeJS.ErrnoException, dataDir);
    throw new Error(sentence, { cause: error });
  }
}

function unfinishedFolder(cluster: string, account: Account | null): string {
  for (const name of fs.readdirSync(path.dirname(cluster))) {
    const pid = Number(/^postgres\.new-(\d+)$/.exec(name)?.[1]);
    if (pid && !lives(pid)) fs.rmSync(path.join(path.dirname(cluster), name), { recursive: true, force: true });
  }

  const folder = `${cluster}.new-${process.pid}`;
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { mode: 0o700 });
  if (account) fs.chownSync(folder, account.uid, account.gid);
  return folder;
}

async function initialise(folder: string, account: Account | null, createDatabases: boolean): Promise<void> {
  const initdb = path.join(postgresFolder({ readableByAll: account !== null }), 'bin', 'initdb');
  await runOnce([initdb, '--pgdata', clusterName(account, folder), ...initdbFlags], { account, folder });
  await makeRoles(account, folder, createDatabases);
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
