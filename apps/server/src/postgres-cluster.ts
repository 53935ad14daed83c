import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { makeFolder } from './make-folder.ts';
import { type Account, postgresAccount, runAs } from './postgres-account.ts';
import { everybodyEnters, postgresFolder } from './postgres-binaries.ts';
import { explain, explainFolder } from './postgres-complaint.ts';
import { postgresEnvironment } from './postgres-server.ts';

const run = promisify(execFile);

const initdbFlags = [
  '--auth=trust',
  '--username=gatehouse',
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
];

/**
 * The cluster below the data directory, made at the first start with its
 * database. It is made aside and renamed, so that a start that was killed, or
 * two starts at once, never leave or see half of one.
 */
export async function clusterFolder(dataDir: string): Promise<string> {
  const cluster = path.join(usable(dataDir), 'postgres');
  // Another user's, in a folder that is open to all, would look like none.
  if (fs.existsSync(cluster)) usable(cluster);
  if (fs.existsSync(path.join(cluster, 'PG_VERSION'))) return cluster;

  const account = postgresAccount(cluster);
  const unfinished = unfinishedFolder(cluster, account);
  try {
    await initialise(unfinished, account);
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

async function initialise(folder: string, account: Account | null): Promise<void> {
  const binaries = path.join(postgresFolder({ readableByAll: account !== null }), 'bin');
  const seeEverything = !everybodyEnters(path.dirname(folder));

  async function asPostgres(command: string[], input = '') {
    const [file = '', ...rest] = runAs(account, command, seeEverything);
    const done = run(file, rest, { env: postgresEnvironment(), cwd: folder });
    done.child.stdin?.on('error', () => {});
    done.child.stdin?.end(input);
    await done;
  }
  await asPostgres([path.join(binaries, 'initdb'), '--pgdata', folder, ...initdbFlags]);
  await asPostgres(
    [path.join(binaries, 'postgres'), '--single', '-D', folder, 'postgres'],
    'CREATE DATABASE gatehouse;\n',
  );
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
