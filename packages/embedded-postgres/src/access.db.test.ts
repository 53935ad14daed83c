import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresAccount } from './account.ts';
import { type EmbeddedServer, openEmbedded } from './embedded-postgres.ts';

const isRoot = process.getuid?.() === 0;
const hasProc = fs.existsSync('/proc/self/status');
const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true });
});

/** Returns a folder below one that no other user may enter. */
function privateFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-access-'));
  fs.chmodSync(folder, 0o700);
  folders.push(folder);
  return path.join(folder, 'data');
}

function connect({ url }: EmbeddedServer, role = 'gatehouse') {
  const host = new URL(url).searchParams.get('host') ?? '';
  return postgres({ host, username: role, database: 'gatehouse', max: 1, onnotice: () => {} });
}

function statusOf(dataDir: string): Record<string, string> {
  const pid = Number.parseInt(fs.readFileSync(path.join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);
  const lines = fs.readFileSync(`/proc/${pid}/status`, 'utf8').split('\n');
  return Object.fromEntries(lines.map((line) => line.split(/:\s*/, 2)));
}

describe('a new cluster', () => {
  const dataDir = privateFolder();
  let database: EmbeddedServer;
  beforeAll(async () => {
    database = await openEmbedded(dataDir, { settings: { fsync: 'off' } });
  });
  afterAll(() => database.stop());

  it.skipIf(!isRoot || !hasProc)('runs below a private folder as a dedicated user without capabilities', () => {
    const { Uid = '', Groups, ...status } = statusOf(dataDir);
    const own = postgresAccount(path.join(dataDir, 'postgres'));
    const shared = fs.readFileSync('/etc/passwd', 'utf8').match(/^postgres:[^:]*:(\d+)/m)?.[1];

    expect(new Set(Uid.split('\t'))).toEqual(new Set([String(own?.uid)]));
    expect(['0', shared]).not.toContain(String(own?.uid));
    expect(Groups?.trim()).toBe('');
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapAmb'])
      expect([set, status[set]]).toEqual([set, '0'.repeat(16)]);
  });

  it('lets the service connect as a role that owns its database and has no other right', async () => {
    const sql = connect(database);
    const [role] = await sql`select rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls
      from pg_roles where rolname = current_user`;
    expect(new Set(Object.values(role ?? {}))).toEqual(new Set([false]));
    await expect(sql`select pg_read_file('postgresql.conf')`).rejects.toThrow('permission denied');
    await expect(sql`copy (select 1) to program 'true'`).rejects.toThrow('permission denied');
    await expect(sql`create database another`).rejects.toThrow('permission denied');

    await sql`create extension pg_trgm`;
    await sql`create schema own`;
    await sql`create table own.things (id int)`;
    await sql.end();
  });

  it('lets no client connect as the superuser, or without peer authentication', async () => {
    const sql = connect(database, 'postgres');
    await expect(sql`select 1`).rejects.toMatchObject({ code: '28000' });
    await sql.end();
    const rules = fs.readFileSync(path.join(dataDir, 'postgres', 'pg_hba.conf'), 'utf8');
    expect(rules.split('\n').filter((line) => line && !line.startsWith('#'))).toEqual([
      'local all gatehouse peer map=gatehouse',
    ]);
  });

  it('lets the role create databases with `createDatabases`', async () => {
    const other = await openEmbedded(privateFolder(), { settings: { fsync: 'off' }, createDatabases: true });
    const sql = connect(other);
    await sql`create database another`;
    await sql.end();
    await other.stop();
  });
});
