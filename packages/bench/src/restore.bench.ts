import fs from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { startTcpProxy } from '@gatehouse/api/testing/database/tcp-proxy';
import { freePorts } from '@gatehouse/api/testing/free-ports';
import { startTestSandbox } from '@gatehouse/sandbox/testing';
import { createDatabase, environmentOf, makeFolder } from './clusters/deployment.ts';
import { installedPostgres, runPostgres, startCluster } from './clusters/installed-postgres.ts';
import { countRows, differences } from './clusters/row-counts.ts';
import { compareMails, compareRows } from './faults/compare-accepted.ts';
import { describe, startLoad } from './faults/load.ts';
import { makeNode, runOperator } from './faults/node.ts';
import { insertOwners, password } from './speed/data.ts';

// Dumps the database while the service works, loses it, restores the dump into another cluster under another role,
// runs `operator after-restore` and starts the service on it, with the commands of docs/operations.md.

if (installedPostgres === null) {
  console.log('PostgreSQL with pg_dump is not installed here (Debian: postgresql): not run.');
  process.exit(0);
}

const webhookSecret = 'whsec_bench';
const folder = makeFolder('restore');
const dump = `${folder}/gatehouse.dump`;
const port = await freePorts(3);
const [firstPort, secondPort] = [port + 1, port + 2];
const sandbox = await startTestSandbox();
const mailProxy = await startTcpProxy(`postgres://${new URL(sandbox.smtpUrl).host}`);
const origin = `http://127.0.0.1:${port}`;
const env = {
  ...environmentOf(sandbox, `smtp://127.0.0.1:${mailProxy.port}`),
  PAYMENT_WEBHOOK_SECRET: webhookSecret,
  PORT: String(port),
};
let isSound = true;

const lost = await startCluster(`${folder}/lost`, firstPort);
const lostUrl = await createDatabase(lost, 'gatehouse', 'first');
const node = makeNode({ ...env, DATABASE_URL: lostUrl });
await node.start();
const owners = await insertOwners(lostUrl);

const load = startLoad({ origin, owners, webhookSecret });
await pause(4_000);
// The dump holds mails that wait, which the service sends after it.
mailProxy.cut();
await pause(3_000);
const accepted = { signUps: [...load.seen.signUps], events: [...load.seen.events] };
const dumped = await lost.asAdministrator('gatehouse', (sql) =>
  sql.begin('isolation level repeatable read read only', async (tx) => {
    const [{ snapshot } = {}] = await tx`select pg_export_snapshot() as snapshot`;
    const options = ['--format=custom', '--no-owner', `--file=${dump}`, `--snapshot=${snapshot}`];
    await runPostgres('pg_dump', [...options, lostUrl]);
    return countRows(tx);
  }),
);
await pause(2_000);
const seen = await load.stop();
mailProxy.restore();
// One node serves, and a dump takes no lock that a request waits for: none may fail.
const isUnhurt = seen.failures.size === 0 && seen.signUps.length > 0 && seen.events.length > 0;
report('Load during the dump', describe(seen), isUnhurt);
const mails = await compareMails(sandbox, seen.signUps);
report('Before the loss', mails.text, mails.isComplete);
await node.end('SIGKILL');
await lost.end('SIGQUIT');

const started = Date.now();
const cluster = await startCluster(`${folder}/restored`, secondPort);
const url = await createDatabase(cluster, 'restored', 'second');
await runPostgres('pg_restore', ['--no-owner', '--exit-on-error', `--dbname=${url}`, dump]);
const different = differences(dumped, await cluster.asAdministrator('gatehouse', countRows));
const rows = [...dumped.values()].reduce((sum, count) => sum + count, 0);
report(
  'Restored',
  `${dumped.size} tables, ${rows} rows, different: ${different.join(', ') || 'none'}`,
  !different.length,
);
const kept = await cluster.asAdministrator('gatehouse', (sql) => compareRows(sql, accepted));
report('Accepted before the dump', kept.text, kept.isComplete);

const mailed = await cluster.asAdministrator(
  'gatehouse',
  (sql) => sql`select from pgboss.job where name = 'verification-mail' and state < 'completed'`,
);
report('Mails that wait in the dump', `${mailed.length}`, mailed.length > 0);
console.log(await runOperator(['after-restore'], { ...env, DATABASE_URL: url }));
const [marked] = await cluster.asAdministrator(
  'gatehouse',
  (sql) =>
    sql`select count(*) filter (where needs_sync)::int as marked, count(*)::int as all from payment_subscriptions`,
);
report('Subscriptions marked for a sync', `${marked?.marked} of ${marked?.all}`, marked?.marked === marked?.all);

sandbox.mailbox.clear();
await node.start({ DATABASE_URL: url });
report('Seconds from the empty cluster to the running service', `${Math.round((Date.now() - started) / 1000)}`, true);
const [owner] = owners;
const signIn = await post('/api/login', { email: owner?.email, password });
report('Sign-in', `${signIn.status}`, signIn.status === 200);
const session = await fetch(`${origin}/api/session`, { headers: { cookie: `session=${owner?.session}` } });
report('A session of before', `${session.status}`, session.status === 401);
await post('/api/signup', { email: 'new@company.example', password });
const fresh = await compareMails(sandbox, ['new@company.example']);
report('A new sign-up', fresh.text, fresh.isComplete);
// Longer than the first retries of a mail.
await pause(8_000);
const repeated = sandbox.mailbox.messages().filter(({ to }) => !to.includes('new@company.example')).length;
report('Mails sent again', `${repeated}`, repeated === 0);

await node.end('SIGTERM');
await cluster.end('SIGINT');
await mailProxy.close();
await sandbox.close();
fs.rmSync(folder, { recursive: true, force: true });
process.exit(isSound ? 0 : 1);

function report(what: string, text: string, isRight: boolean): void {
  console.log(`${what}: ${text}${isRight ? '' : ' (WRONG)'}`);
  isSound &&= isRight;
}

function post(path: string, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(origin + path, { method: 'POST', headers, body: JSON.stringify(body) });
}
