import { sql } from 'drizzle-orm';
import { expect, it } from 'vitest';
import type { App } from '../../app.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { givePlan, makeOwner } from '../../testing/factories.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { eraseOrganisation } from './delete-organisation.ts';
import { eraseUser } from './erase-user.ts';

const test = useBillingTest();

/** Returns the App, and the tables that its transactions read as a whole because no index helps them. */
function watched(app: App): { app: App; read: Set<string> } {
  const read = new Set<string>();
  const db: App['db'] = Object.create(app.db);
  db.transaction = (run) =>
    app.db.transaction(async (tx) => {
      // Small tables are read as a whole for speed: from now on only those that have to be.
      await tx.execute(sql`set local enable_seqscan = off`);
      const before = await sequentialScans(tx);
      const result = await run(tx);
      for (const [table, scans] of await sequentialScans(tx)) if (scans > (before.get(table) ?? 0)) read.add(table);
      return result;
    });
  return { app: { ...app, db }, read };
}

async function sequentialScans(tx: Transaction): Promise<Map<string, number>> {
  const rows = await tx.execute<{ table: string; scans: number }>(sql`
    select schemaname || '.' || relname as table, seq_scan::int as scans from pg_stat_xact_user_tables`);
  return new Map(rows.map(({ table, scans }) => [table, scans]));
}

it('the deletion of an account reads no whole table, also with an organisation that ends', async () => {
  const owner = await makeOwner(test);
  await givePlan(test, owner.organisationId, 'silver');
  await test.app.sql`update payment_subscriptions set status = 'canceled', ended = true`;
  const { app, read } = watched(test.app);
  expect((await eraseUser(app, { userId: owner.userId }, { actorId: null }))?.slugs).toHaveLength(1);
  expect([...read]).toEqual([]);
});

it('nor does the deletion of an organisation', async () => {
  const { organisationId } = await makeOwner(test);
  const { app, read } = watched(test.app);
  await eraseOrganisation(app, organisationId);
  expect([...read]).toEqual([]);
});
