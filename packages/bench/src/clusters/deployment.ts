import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Sandbox } from '@gatehouse/sandbox/sandbox';
import type { Cluster } from './installed-postgres.ts';

const operations = path.resolve(import.meta.dirname, '../../../../docs/operations.md');

/** Creates a folder that PostgreSQL's user may enter. */
export function makeFolder(name: string): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), `gatehouse-${name}-`));
  fs.chmodSync(folder, 0o755);
  return folder;
}

/** Creates a role and its database, and returns the DATABASE_URL. */
export async function createDatabase(cluster: Cluster, role: string, password: string): Promise<string> {
  await cluster.asAdministrator('postgres', async (sql) => {
    await sql.unsafe(`create role ${role} login password '${password}'`);
    await sql.unsafe(`create database gatehouse owner ${role}`);
  });
  return cluster.url(role, password, 'gatehouse');
}

/** The variables of a node whose other systems are the sandbox. */
export function environmentOf(sandbox: Sandbox, smtpUrl: string) {
  return {
    SMTP_URL: smtpUrl,
    MAIL_FROM: 'no-reply@company.example',
    PAYMENT_API_URL: sandbox.url,
    PAYMENT_SECRET_KEY: 'sk_test_sandbox',
    GATEHOUSE_ENV_FILE: 'off',
    RATE_LIMITS: 'off',
    LOG_FORMAT: 'json',
    LOG_LEVEL: 'info',
  };
}

/** Returns the block of SQL in docs/operations.md that contains a text, so that a run tests what is documented. @throws Error if there is none. */
export function documentedSql(part: string): string {
  const blocks = [...fs.readFileSync(operations, 'utf8').matchAll(/```sql\n(.*?)```/gs)].map(([, text = '']) => text);
  const block = blocks.find((text) => text.includes(part));
  if (block === undefined) throw new Error(`docs/operations.md has no SQL with ${part}.`);
  return block;
}
