import fs from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '@gatehouse/api/testing/free-ports';
import postgres from 'postgres';
import { createDatabase, documentedSql, makeFolder } from './clusters/deployment.ts';
import { installedPostgres, startCluster } from './clusters/installed-postgres.ts';
import { compareMails, compareRows, join } from './faults/compare-accepted.ts';
import { describe, startLoad } from './faults/load.ts';
import { restartInTurn } from './faults/node.ts';
import { hasProxy, openWorld } from './faults/world.ts';

// Changes the password of the database and the webhook secret as docs/operations.md says, by two restarts of two
// nodes behind HAProxy, under a load of 25 requests a second. No request may fail, and nothing may be lost.

if (installedPostgres === null || !hasProxy) {
  console.log('PostgreSQL with pg_dump or HAProxy is not installed here (Debian: postgresql, haproxy): not run.');
  process.exit(0);
}

const folder = makeFolder('rotation');
const cluster = await startCluster(`${folder}/database`, await freePort());
const oldUrl = await createDatabase(cluster, 'gatehouse', 'old');
const newUrl = cluster.url('gatehouse_2', 'new', 'gatehouse');
const world = await openWorld({ url: oldUrl, stop: () => cluster.end('SIGINT') });
const { nodes, sandbox, webhookSecret: oldSecret } = world;
const newSecret = 'whsec_new';

const load = startLoad(world);
await pause(3_000);
await asAdministrator(documentedSql('create role gatehouse_2').replace("'…'", "'new'"));
await restartInTurn(nodes, { DATABASE_URL: newUrl, PAYMENT_WEBHOOK_SECRET: `${newSecret},${oldSecret}` });
await asAdministrator(documentedSql('alter role gatehouse nologin'));
world.webhookSecret = newSecret;
await restartInTurn(nodes, { PAYMENT_WEBHOOK_SECRET: newSecret });
await pause(1_000);
const seen = await load.stop();

const rows = await cluster.asAdministrator('gatehouse', (sql) => compareRows(sql, seen));
const kept = join(rows, await compareMails(sandbox, seen.signUps));
console.log(`Two rotations: ${describe(seen)}; ${kept.text}`);
const late = startLoad({ ...world, webhookSecret: oldSecret });
await pause(1_000);
const refused = (await late.stop()).failures.get('400 /webhooks/payment') ?? 0;
console.log(`An event with the old webhook secret: ${refused > 0 ? 'refused' : 'accepted'}`);
const oldRole = await connects(oldUrl);
console.log(`A connection with the old password: ${oldRole ? 'accepted' : 'refused'}`);
const owners = await ownersOfTables();
console.log(`Tables belong to: ${owners.join(', ')}`);
const timeouts = await settingsOf('gatehouse_2');
console.log(`Timeouts of the new role: ${timeouts}`);

await world.close();
fs.rmSync(folder, { recursive: true, force: true });
const isSound = seen.failures.size === 0 && kept.isComplete && refused > 0 && !oldRole && owners.length === 1;
process.exit(isSound && timeouts > 0 ? 0 : 1);

function asAdministrator(statements: string) {
  return cluster.asAdministrator('gatehouse', (sql) => sql.unsafe(statements));
}

async function connects(url: string): Promise<boolean> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  return sql`select 1`.then(
    () => true,
    () => false,
  );
}

function ownersOfTables(): Promise<string[]> {
  return cluster.asAdministrator('gatehouse', async (sql) => {
    const rows =
      await sql`select distinct tableowner from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`;
    return rows.map(({ tableowner }) => tableowner);
  });
}

/** Returns the number of settings that the service made for a role in its database. */
function settingsOf(role: string): Promise<number> {
  return cluster.asAdministrator('gatehouse', async (sql) => {
    const [row] =
      await sql`select coalesce(cardinality(setconfig), 0) as count from pg_db_role_setting where setrole = ${role}::regrole`;
    // One of them is the role that owns the tables.
    return Number(row?.count ?? 0) - 1;
  });
}
