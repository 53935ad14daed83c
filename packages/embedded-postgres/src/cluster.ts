import fs from 'node:fs';
import path from 'node:path';
import { type Account, postgresAccount } from './account.ts';
import { postgresFolder } from './binaries.ts';
import { createFolder } from './create-folder.ts';
import { createRoles, superuser } from './roles.ts';
import { clusterName, runCommand } from './run-command.ts';
import { explainFolder, explainOutput } from './startup-error.ts';

const initdbFlags = [
  '--auth=reject',
  `--username=${superuser}`,
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
];

/**
 * Returns the cluster's folder in the data directory. The first start creates it with its database,
 * under another name, and renames it, so that no process ever uses an incomplete cluster. With
 * `createDatabases` the service's role in a new cluster may create more databases, as tests do.
 *
 * @throws Error with a sentence for the operator if the cluster cannot be created.
 */
export async function clusterFolder(dataDir: string, { createDatabases = false } = {}): Promise<string> {
  const cluster = path.join(requireUsable(dataDir), 'postgres');
  // PG_VERSION of another user's cluster cannot be seen, so check first that the folder can be entered.
  if (fs.existsSync(cluster)) requireUsable(cluster);
  if (fs.existsSync(path.join(cluster, 'PG_VERSION'))) return cluster;

  const account = postgresAccount(cluster);
  const unfinished = unfinishedFolder(cluster, account);
  try {
    await initialise(unfinished, account, createDatabases);
    fs.renameSync(unfinished, cluster);
  } catch (error) {
    if (fs.existsSync(path.join(cluster, 'PG_VERSION'))) return cluster;
    const { stderr, message, code } = error as Error & { stderr?: string; code?: string };
    // An error of this package, whose message is a sentence for the operator.
    if (stderr === undefined && code === undefined) throw error;
    throw new Error(`The database could not be created. ${explainOutput(stderr || message, dataDir)}`, {
      cause: error,
    });
  } finally {
    fs.rmSync(unfinished, { recursive: true, force: true });
  }
  return cluster;
}

function requireUsable(dataDir: string): string {
  try {
    createFolder(dataDir);
    fs.accessSync(dataDir, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
    return fs.realpathSync(dataDir);
  } catch (error) {
    const sentence = explainFolder(error as NodeJS.ErrnoException, dataDir);
    throw new Error(sentence, { cause: error });
  }
}

function unfinishedFolder(cluster: string, account: Account | null): string {
  removeLeftovers(path.dirname(cluster));
  const folder = `${cluster}.new-${process.pid}`;
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { mode: 0o700 });
  if (account) fs.chownSync(folder, account.uid, account.gid);
  return folder;
}

/** Removes what killed first starts left behind. */
function removeLeftovers(dataDir: string): void {
  for (const name of fs.readdirSync(dataDir)) {
    const pid = Number(/^postgres\.new-(\d+)$/.exec(name)?.[1]);
    if (!pid || isRunning(pid)) continue;
    try {
      fs.rmSync(path.join(dataDir, name), { recursive: true, force: true });
    } catch {
      // The initdb of that start still writes, and the folder is not empty: a later start removes it.
    }
  }
}

async function initialise(folder: string, account: Account | null, createDatabases: boolean): Promise<void> {
  const initdb = path.join(postgresFolder({ readableByAll: account !== null }), 'bin', 'initdb');
  await runCommand([initdb, '--pgdata', clusterName(account, folder), ...initdbFlags], { account, folder });
  await createRoles(account, folder, createDatabases);
}

/** Whether the process with this id runs, of whichever user. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
