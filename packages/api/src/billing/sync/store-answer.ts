import { eq } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { lockOrganisation } from '../../organisations/organisation.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import type { SubscriptionState } from '../../platform/providers/payment/subscription-state.ts';
import type * as provider from '../../platform/providers/payment/subscriptions.ts';
import { hasStandingDispute } from '../entitlement/standing-disputes.ts';
import { settleEarlier } from '../events/invoice-problems.ts';
import { afterAnswer, type SubscriptionRow } from '../subscription/newer-state.ts';
import { readColumns, readRows, type StoredRows } from '../subscription/subscription-rows.ts';
import { writeRow } from '../subscription/write-row.ts';

/** The organisation and the customer that an answer was asked for. */
export type SubscriptionOwner = { organisationId: string; customerId: string };

/** The version of a subscription's row before the provider was asked about it; null if it had none. */
export type Version = number | null;

/**
 * Stores the provider's answer about a subscription, if its row is still what it was before the provider was asked.
 * Returns false and changes nothing otherwise: an event or another answer may show a newer state, and the provider is
 * to be asked again. An answer that names another customer is not stored, and the row gets a problem.
 */
export async function storeAnswer(
  app: App,
  owner: SubscriptionOwner,
  { state, at }: provider.Answer,
  version: Version,
): Promise<boolean> {
  return whileUnchanged(app, { ...owner, id: state.id, version }, async (tx, stored, row) => {
    const { organisationId } = owner;
    const customerId = row?.customerId ?? owner.customerId;
    const write = { id: state.id, organisationId, customerId };
    const settled = { needsSync: false, syncedAt: app.now() };
    if (state.customerId !== customerId) {
      const marks = { ...settled, problem: 'other_customer' as const };
      return writeRow(app, tx, stored, { ...write, columns: null, newPrice: null, marks });
    }
    const { columns, details, newPrice } = await readColumns(app, tx, state);
    const paidInvoiceAt = state.details?.paidInvoiceAt ?? null;
    if (paidInvoiceAt !== null) await settleEarlier(tx, state.id);
    const disputed = await hasStandingDispute(tx, state.id, paidInvoiceAt);
    const marks = { ...settled, problem: state.problem };
    await writeRow(app, tx, stored, {
      ...write,
      columns: afterAnswer(row, columns, at ?? secondOf(app), details && { ...details, disputed }),
      newPrice,
      marks,
    });
  });
}

/**
 * Does something at the provider that answers with a subscription, stores the answer if no event arrived meanwhile, and
 * returns its state. The caller holds the organisation's lease.
 *
 * @throws what `act` throws.
 */
export async function actAndStore(
  app: App,
  owner: SubscriptionOwner,
  id: string,
  act: () => Promise<provider.Answer>,
): Promise<SubscriptionState> {
  const version = (await versionsOf(app, owner.organisationId)).get(id) ?? null;
  const answer = await act();
  await storeAnswer(app, owner, answer, version);
  return answer.state;
}

/** Our clock's second, where the provider does not say in which of its clock it answered. */
function secondOf(app: App): number {
  return Math.floor(app.now().getTime() / 1000);
}

/** Flags a subscription that the provider does not know. It does not end. Returns false as `storeAnswer`. */
export function markUnknownToProvider(
  app: App,
  { id, organisationId }: SubscriptionRow,
  version: Version,
): Promise<boolean> {
  return whileUnchanged(app, { organisationId, id, version }, async (tx, stored, row) => {
    if (row === null) return;
    const marks = { needsSync: false, syncedAt: app.now(), problem: 'unknown_to_provider' as const };
    await writeRow(app, tx, stored, { ...row, columns: null, newPrice: null, marks });
  });
}

/** Runs a write under the lock of the organisation's row, if the subscription's row is still of a version. */
async function whileUnchanged(
  app: App,
  { organisationId, id, version }: { organisationId: string; id: string; version: Version },
  write: (tx: Transaction, stored: StoredRows, row: SubscriptionRow | null) => Promise<void>,
): Promise<boolean> {
  return app.db.transaction(async (tx) => {
    // An organisation that was deleted meanwhile has no rows to write.
    if (!(await lockOrganisation(tx, organisationId))) return true;
    const stored = await readRows(tx, { organisationId, subscriptionId: id });
    const row = stored.rows.find((each) => each.id === id) ?? null;
    if (row !== null && row.organisationId !== organisationId) return true;
    if ((row?.version ?? null) !== version) return false;
    await write(tx, stored, row);
    return true;
  });
}

/** Returns the version of each of an organisation's rows. To be read before the provider is asked. */
export async function versionsOf(app: App, organisationId: string): Promise<Map<string, number>> {
  const rows = await app.db
    .select({ id: paymentSubscriptions.id, version: paymentSubscriptions.version })
    .from(paymentSubscriptions)
    .where(eq(paymentSubscriptions.organisationId, organisationId));
  return new Map(rows.map(({ id, version }) => [id, version]));
}
