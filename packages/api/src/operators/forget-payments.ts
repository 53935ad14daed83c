import { eq, getTableColumns, sql } from 'drizzle-orm';
import type { App } from '../app.ts';
import { decideAnew, rankedFor } from '../billing/entitlement/decide-plan.ts';
import { type Mode, storedMode } from '../billing/mode.ts';
import { lockOrganisation } from '../organisations/organisation.ts';
import { serviceName, type Transaction } from '../platform/db/client.ts';
import {
  paymentCheckouts,
  paymentCustomers,
  paymentDisputes,
  paymentEvents,
  paymentInvoices,
  paymentKnownPrices,
  paymentLeases,
  paymentLivePrices,
  paymentSettings,
  paymentShownInvoices,
  paymentSubscriptions,
  planOverrides,
} from '../platform/db/schema/billing.ts';
import { AppError } from '../platform/errors.ts';

/** What is stored of the payment provider. */
type StoredPayments = {
  mode: Mode;
  customers: number;
  subscriptions: number;
  events: number;
  /** The subscriptions that give a plan now: at the provider they go on charging. */
  entitledIds: string[];
};

/**
 * Returns what `forgetPayments` would remove.
 *
 * @throws AppError VALIDATION if the database belongs to no mode.
 */
export async function readStoredPayments(app: App): Promise<StoredPayments> {
  const mode = await storedMode(app);
  if (mode === null) throw new AppError('VALIDATION', 'This database holds nothing of the payment provider.');

  const live = await app.db
    .select({ row: getTableColumns(paymentSubscriptions), override: getTableColumns(planOverrides) })
    .from(paymentSubscriptions)
    .leftJoin(planOverrides, eq(planOverrides.organisationId, paymentSubscriptions.organisationId))
    .where(eq(paymentSubscriptions.ended, false));
  const now = app.now();
  const entitled = live
    .flatMap(({ row, override }) => rankedFor(app, { rows: [row], override }, now))
    .flatMap(({ row, entitled }) => (entitled ? [row] : []));
  return {
    mode,
    customers: await app.db.$count(paymentCustomers),
    subscriptions: await app.db.$count(paymentSubscriptions),
    events: await app.db.$count(paymentEvents),
    entitledIds: entitled.map(({ id }) => id),
  };
}

/**
 * Removes everything that is stored of the payment provider, so that the next start with a key gives the database
 * that key's mode. Every organisation is then on the free plan. At the provider nothing changes.
 *
 * @throws AppError VALIDATION if the database belongs to another mode than the named one, or if subscriptions give a
 *   plan and `evenEntitled` is false; CONFLICT while a service runs on the database.
 */
export async function forgetPayments(
  app: App,
  { mode, evenEntitled }: { mode: string; evenEntitled: boolean },
): Promise<StoredPayments> {
  const stored = await readStoredPayments(app);
  if (mode !== stored.mode) {
    throw new AppError('VALIDATION', `This database is of ${stored.mode} mode: name it, and nothing else.`);
  }
  if (await serviceRuns(app)) {
    throw new AppError('CONFLICT', 'A service runs on this database. Stop it first.');
  }
  if (stored.entitledIds.length > 0 && !evenEntitled) {
    const sentence = `Subscriptions that give a plan are stored (${stored.entitledIds.length}), and would go on charging. Cancel them at the provider first, or add --entitled.`;
    throw new AppError('VALIDATION', sentence);
  }

  await app.db.transaction((tx) => removeAll(app, tx));
  return stored;
}

async function removeAll(app: App, tx: Transaction): Promise<void> {
  const owners = await tx
    .selectDistinct({ id: paymentSubscriptions.organisationId })
    .from(paymentSubscriptions)
    .orderBy(paymentSubscriptions.organisationId);
  for (const { id } of owners) await lockOrganisation(tx, id);

  for (const table of [
    paymentCheckouts,
    paymentDisputes,
    paymentInvoices,
    paymentShownInvoices,
    paymentSubscriptions,
    paymentCustomers,
    paymentEvents,
    paymentLeases,
    paymentKnownPrices,
    paymentLivePrices,
    paymentSettings,
  ]) {
    await tx.delete(table);
  }
  for (const { id } of owners) await decideAnew(app, tx, id);
}

/** Whether a serving process has a connection to the database: it would store objects of the old mode again. */
async function serviceRuns({ db }: App): Promise<boolean> {
  const [row] = await db.execute<{ runs: boolean }>(sql`
    select exists (select from pg_stat_activity
      where datname = current_database() and application_name = ${serviceName} and pid <> pg_backend_pid()) as runs`);
  return row?.runs ?? false;
}
