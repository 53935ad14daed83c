import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import postgres, { type Sql } from 'postgres';

const installations = '/usr/lib/postgresql';
const startMilliseconds = 30_000;
const password = 'the-administrators-password';

/** The folder with the programs of the newest PostgreSQL of Debian's packages, pg_dump included; null if there is none. */
export const installedPostgres: string | null =
  fs
    .globSync(`${installations}/*/bin`)
    .filter((folder) => ['initdb', 'pg_dump', 'pg_restore'].every((name) => fs.existsSync(path.join(folder, name))))
    .sort((one, other) => Number(other.split('/').at(-2)) - Number(one.split('/').at(-2)))[0] ?? null;

/** A PostgreSQL server on a port, to which roles connect with passwords, as to one on another machine. */
export type Cluster = {
  /** The address of a database, as DATABASE_URL takes it. */
  url: (role: string, password: string, database: string) => string;
  /** Runs statements as the server's administrator. */
  asAdministrator: <Result>(database: string, act: (sql: Sql) => Promise<Result>) => Promise<Result>;
  end: (signal: NodeJS.Signals) => Promise<void>;
};

/** Creates a cluster in `folder`, which must not exist, and starts it. @throws Error if it does not start. */
export async function startCluster(folder: string, port: number): Promise<Cluster> {
  // PostgreSQL refuses to run as root.
  const account = process.getuid?.() === 0 ? postgresUser() : null;
  fs.mkdirSync(folder, { mode: 0o700 });
  const passwordFile = `${folder}.password`;
  fs.writeFileSync(passwordFile, password);
  if (account !== null) for (const file of [folder, passwordFile]) fs.chownSync(file, account.uid, account.gid);
  const created = spawnSync(
    program('initdb'),
    ['-D', folder, '-U', 'postgres', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`, '-E', 'UTF8', '--locale=C'],
    { ...account, cwd: folder, encoding: 'utf8' },
  );
  if (created.status !== 0) throw new Error(created.stderr);

  const settings = { port, listen_addresses: '127.0.0.1', unix_socket_directories: '', logging_collector: 'off' };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = spawn(program('postgres'), ['-D', folder, ...options], { ...account, cwd: folder, stdio: 'ignore' });
  const kill = () => server.kill('SIGQUIT');
  process.once('exit', kill);

  const cluster: Cluster = {
    url: (role, secret, database) => `postgres://${role}:${secret}@127.0.0.1:${port}/${database}`,
    async asAdministrator(database, act) {
      const sql = postgres(cluster.url('postgres', password, database), { max: 1, onnotice: () => {} });
      return act(sql).finally(() => sql.end());
    },
    async end(signal) {
      process.off('exit', kill);
      if (server.exitCode !== null || server.signalCode !== null) return;
      server.kill(signal);
      await once(server, 'exit');
    },
  };
  await isUp(cluster);
  return cluster;
}

/** Runs one of PostgreSQL's programs. @throws Error with what it printed, if it fails. */
export async function runPostgres(name: string, args: string[]): Promise<void> {
  const child = spawn(program(name), args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let printed = '';
  child.stderr.on('data', (bytes) => {
    printed += bytes;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${name} failed: ${printed}`);
}

function program(name: string): string {
  return path.join(installedPostgres ?? '', name);
}

async function isUp({ asAdministrator }: Cluster): Promise<void> {
  for (const deadline = Date.now() + startMilliseconds; ; await pause(100)) {
    const error = await asAdministrator('postgres', (sql) => sql`select 1`).then(
      () => null,
      (thrown: Error) => thrown,
    );
    if (error === null) return;
    if (Date.now() > deadline) throw error;
  }
}

/** Returns the system user of Debian's packages. */
function postgresUser(): { uid: number; gid: number } {
  const line = /^postgres:[^:]*:(\d+):(\d+):/m.exec(fs.readFileSync('/etc/passwd', 'utf8'));
  return { uid: Number(line?.[1]), gid: Number(line?.[2]) };
}
