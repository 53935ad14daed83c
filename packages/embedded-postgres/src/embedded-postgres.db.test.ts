import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEmbedded } from './embedded-postgres.ts';
import { probe } from './probe.ts';
import { startServer } from './server.ts';
import { type Program, runProgram } from './testing/program.ts';

const openDatabase = new URL('testing/open-database.ts', import.meta.url);
const hasProc = fs.existsSync('/proc/self/stat');
const folders: string[] = [];
const programs: Program[] = [];

afterAll(async () => {
  for (const { child, ended } of programs) {
    child.kill('SIGTERM');
    await ended;
  }
  for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true });
});

function emptyFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-embedded-'));
  folders.push(folder);
  return folder;
}

// A copy of a cluster takes a tenth of the time of a new one.
let cluster = '';
beforeAll(async () => {
  cluster = emptyFolder();
  await (await openEmbedded(cluster)).stop();
});

/** Returns a data directory with a cluster whose server has been stopped. */
function usedFolder(): string {
  const folder = emptyFolder();
  // -a keeps the owner, as which PostgreSQL runs.
  execFileSync('cp', ['-a', path.join(cluster, 'postgres'), folder]);
  return folder;
}

async function opened(dataDir: string) {
  const program = runProgram(openDatabase, [dataDir]);
  programs.push(program);
  await program.prints('open ');
  const [, answer = ''] = /open (.*)/.exec(program.output()) ?? [];
  return { ...program, ...(JSON.parse(answer) as { url: string; started: boolean }) };
}

function postmaster(dataDir: string): number {
  return Number.parseInt(fs.readFileSync(path.join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);
}

function socketOf(url: string): string {
  return new URL(url).searchParams.get('host') ?? '';
}

function serverLog(dataDir: string): string {
  return fs.readFileSync(path.join(dataDir, 'postgres.log'), 'utf8');
}

async function eventually(holds: () => boolean): Promise<void> {
  for (let i = 0; i < 3_000 && !holds(); i++) await pause(20);
  expect(holds()).toBe(true);
}

const nowhere = ['/proc/gatehouse', '/proc/gatehouse/data', '/sys/gatehouse', path.join('/dev/null', 'data')];

test.skipIf(!hasProc).each(nowhere)('%s is refused with a sentence within ten seconds', async (dataDir) => {
  const { child, ended, output } = runProgram(openDatabase, [dataDir]);
  const timeout = setTimeout(() => child.kill('SIGKILL'), 10_000);

  const { code, signal } = await ended;
  clearTimeout(timeout);
  expect([code, signal]).toEqual([1, null]);
  expect(output()).toContain(`DATA_DIR (${dataDir})`);
});

test('the first start creates the cluster and the database, and after stop nothing listens', async () => {
  const dataDir = path.join(emptyFolder(), 'not', 'there', 'yet');
  const database = await openEmbedded(dataDir);

  expect(database.started).toBe(true);
  expect(await probe(socketOf(database.url))).toBe('ready');
  expect(fs.statSync(socketOf(database.url)).mode & 0o777).toBe(0o700);
  expect(fs.readdirSync(dataDir).sort()).toEqual(['postgres', 'postgres.log']);

  await database.stop();
  expect(await probe(socketOf(database.url))).toBe('absent');
  expect(serverLog(dataDir)).toContain('database system is shut down');
});

test('a second process adopts the running server, and does not stop it', async () => {
  const dataDir = usedFolder();
  const first = await opened(dataDir);
  const second = await openEmbedded(dataDir);

  expect([first.started, second.started]).toEqual([true, false]);
  expect(second.url).toBe(first.url);
  await second.stop();
  expect(await probe(socketOf(first.url))).toBe('ready');
});

test('a process that adopted a server is notified when the other process stops it', async () => {
  const dataDir = usedFolder();
  const first = await opened(dataDir);
  const second = await openEmbedded(dataDir);
  const gone = new Promise<void>((resolve) => second.onExit(resolve));

  first.child.kill('SIGTERM');
  await gone;
  const third = await openEmbedded(dataDir);
  expect([third.started, third.url]).toEqual([true, first.url]);
  await third.stop();
  await second.stop();
});

test('after kill -9 of PostgreSQL the process that started it is notified, and the next start recovers', async () => {
  const dataDir = usedFolder();
  const first = await opened(dataDir);
  process.kill(postmaster(dataDir), 'SIGKILL');
  await first.prints('gone');

  const second = await openEmbedded(dataDir);
  expect(second.started).toBe(true);
  expect(serverLog(dataDir)).toContain('was not properly shut down');
  await second.stop();
});

test('kill -9 of the process that started it shuts PostgreSQL down cleanly', async () => {
  const dataDir = usedFolder();
  const { child } = await opened(dataDir);
  child.kill('SIGKILL');

  await eventually(() => serverLog(dataDir).includes('database system is shut down'));
});

test('after kill -9 of PostgreSQL and its starter the next start waits for the remaining processes and recovers', async () => {
  const dataDir = usedFolder();
  const { child } = await opened(dataDir);
  process.kill(postmaster(dataDir), 'SIGKILL');
  child.kill('SIGKILL');

  const database = await openEmbedded(dataDir);
  expect(database.started).toBe(true);
  await database.stop();
});

test.skipIf(!hasProc)('after the crash of a backend the server recovers and stays in use', async () => {
  const dataDir = usedFolder();
  const first = await opened(dataDir);
  const checkpointer = /checkpointer|background writer/;
  const pids = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const victim = pids.find((pid) => {
    try {
      const parent = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[3];
      return (
        parent === String(postmaster(dataDir)) && checkpointer.test(fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
      );
    } catch {
      return false;
    }
  });
  process.kill(Number(victim), 'SIGKILL');

  await eventually(() => serverLog(dataDir).includes('all server processes terminated; reinitializing'));
  const second = await openEmbedded(dataDir);
  expect(second.started).toBe(false);
  expect(first.output()).not.toContain('gone');
  await second.stop();
});

test('of two concurrent starts on an empty folder one starts the server and the other adopts it', async () => {
  const dataDir = emptyFolder();
  const both = await Promise.all([opened(dataDir), opened(dataDir)]);

  expect(both.map(({ started }) => started).sort()).toEqual([false, true]);
  expect(both[0].url).toBe(both[1].url);
  expect(fs.readdirSync(dataDir).sort()).toEqual(['postgres', 'postgres.log']);
});

test.skipIf(!hasProc)('a lock file that names a process of another kind does not block the start', async () => {
  const dataDir = usedFolder();
  fs.writeFileSync(path.join(dataDir, 'postgres', 'postmaster.pid'), `${process.pid}\n`, { mode: 0o644 });

  const database = await openEmbedded(dataDir);
  expect(database.started).toBe(true);
  await database.stop();
});

test('the files of a killed first start are removed by the next start', async () => {
  const dataDir = emptyFolder();
  fs.mkdirSync(path.join(dataDir, 'postgres.new-4194303', 'base'), { recursive: true });

  const database = await openEmbedded(dataDir);
  expect(fs.readdirSync(dataDir).sort()).toEqual(['postgres', 'postgres.log']);
  await database.stop();
});

test('a process that cannot be started rejects the start, and ends nothing', async () => {
  const gone = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'gone-')), 'folder');
  await expect(startServer(gone, os.tmpdir(), {})).rejects.toMatchObject({ syscall: 'spawn /bin/sh' });
});

test('a data directory that is a file is refused in a sentence', async () => {
  const file = path.join(emptyFolder(), 'file');
  fs.writeFileSync(file, '');

  await expect(openEmbedded(path.join(file, 'data'))).rejects.toThrow(/DATA_DIR/);
});
