import { and, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { isUuid } from '../../platform/db/id.ts';
import { paymentCustomers } from '../../platform/db/schema/billing.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { AppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import { type Ask, isMissing, providerErrorOf } from '../../platform/providers/payment/connection.ts';
import * as provider from '../../platform/providers/payment/customers.ts';
import { requirePayment } from '../actions/require-payment.ts';
import { withLease } from './lease.ts';

/**
 * Runs `work` with the organisation's lease and its customer at the provider, which is
 * created if there is none. A customer that the provider has deleted is replaced, once.
 *
 * @throws AppError BILLING_UNAVAILABLE; BUSY; PROVIDER_UNAVAILABLE, also if the provider does not know the
 *   customer, because a key of another account gets the same answer.
 */
export async function withCustomer<Result>(
  app: App,
  organisationId: string,
  work: (ask: Ask, customerId: string) => Promise<Result>,
): Promise<Result> {
  return withLease(
    app,
    leaseOf(organisationId),
    async (ask) => {
      const customerId = await ensureCustomer(app, ask, organisationId);
      try {
        const result = await work(ask, customerId);
        await confirmCustomers(app, [customerId]);
        return result;
      } catch (error) {
        if (!isMissing(error, 'customer')) throw error;
        const found = await checkCustomer(app, ask, { organisationId, customerId });
        if (found === 'known') throw error;
        if (found === 'unknown') throw unknownCustomer();
        return work(ask, await ensureCustomer(app, ask, organisationId));
      }
    },
    'action',
  );
}

/** The name of an organisation's lease. */
export function leaseOf(organisationId: string): string {
  return `organisation:${organisationId}`;
}

/** An organisation's customer at the provider. `isGone` says that the provider has deleted it. */
type Customer = { id: string; isGone: boolean };

/** Returns the organisation's customer, one that was deleted too; null if none was ever made. */
export async function readCustomer(app: App, organisationId: string): Promise<Customer | null> {
  const row = await rowOf(app, organisationId);
  return row?.customerId == null ? null : { id: row.customerId, isGone: row.goneAt !== null };
}

/**
 * Asks the provider about a customer that it called missing, and stores the result. Only an explicit
 * `deleted` ends a customer. A customer that this key does not know is flagged and otherwise not
 * changed, because a key of another account gets the same answer.
 *
 * @throws AppError PROVIDER_UNAVAILABLE if the provider does not answer.
 */
export async function checkCustomer(
  app: App,
  ask: Ask,
  { organisationId, customerId }: { organisationId: string; customerId: string },
): Promise<'known' | 'deleted' | 'unknown'> {
  const isThis = eq(paymentCustomers.customerId, customerId);
  try {
    const { isDeleted } = await provider.readCustomer(ask, customerId);
    if (!isDeleted) {
      await confirmCustomers(app, [customerId]);
      return 'known';
    }
    const goneAt = sql`coalesce(${paymentCustomers.goneAt}, ${app.now().toISOString()}::timestamptz)`;
    await app.db.update(paymentCustomers).set({ goneAt, problem: null }).where(isThis);
    return 'deleted';
  } catch (error) {
    if (!isMissing(error)) throw error;
    app.log.warn('The payment provider does not know a customer. The key may be a wrong one.', {
      organisationId,
      customerId,
      key: requirePayment(app).key,
    });
    await app.db.update(paymentCustomers).set({ problem: 'unknown_to_provider' }).where(isThis);
    return 'unknown';
  }
}

/** Removes the problems of customers about whom the provider has answered. */
export async function confirmCustomers(app: App, ids: string[]): Promise<void> {
  await app.db
    .update(paymentCustomers)
    .set({ problem: null })
    .where(and(inArray(paymentCustomers.customerId, ids), isNotNull(paymentCustomers.problem)));
}

/**
 * Returns the AppError PROVIDER_UNAVAILABLE for a customer that the provider does not know under our
 * key. No row changes, because the customer may exist under another key.
 */
export function unknownCustomer(): AppError {
  return new AppError('PROVIDER_UNAVAILABLE', message('provider_lacks_organisation_plan'));
}

/**
 * Returns the organisation's customer, and creates it if there is none or the last one was deleted. The caller holds
 * the organisation's lease. After a failure of the provider (5xx) the idempotency key would replay that failure for a
 * day, so the next request gets another one.
 *
 * @throws AppError BILLING_UNAVAILABLE; PROVIDER_UNAVAILABLE.
 */
async function ensureCustomer(app: App, ask: Ask, organisationId: string): Promise<string> {
  try {
    return await requestCustomer(app, ask, organisationId);
  } catch (error) {
    if ((providerErrorOf(error)?.status ?? 0) >= 500) {
      const unanswered = and(eq(paymentCustomers.organisationId, organisationId), isNull(paymentCustomers.customerId));
      await app.db.update(paymentCustomers).set(nextCustomer).where(unanswered);
    }
    throw error;
  }
}

/** The columns that make the next request one for another customer. */
export const nextCustomer = {
  number: sql`${paymentCustomers.number} + 1`,
  customerId: null,
  goneAt: null,
  contactEmail: null,
  problem: null,
};

/**
 * Stores the customer before any other request for it. The idempotency key and the parameters are constant, so a lost
 * answer is repeated.
 */
async function requestCustomer(app: App, ask: Ask, organisationId: string): Promise<string> {
  const isTheirs = eq(paymentCustomers.organisationId, organisationId);
  await app.db
    .insert(paymentCustomers)
    .values({ organisationId, createdAt: app.now() })
    .onConflictDoUpdate({
      target: paymentCustomers.organisationId,
      set: nextCustomer,
      setWhere: isNotNull(paymentCustomers.goneAt),
    });
  const row = await rowOf(app, organisationId);
  if (row?.customerId != null) return row.customerId;

  const customerId = await provider.createCustomer(ask, organisationId, row?.number ?? 1);
  await app.db.update(paymentCustomers).set({ customerId }).where(isTheirs);
  return customerId;
}

async function rowOf(app: App, organisationId: string) {
  const [row] = await app.db.select().from(paymentCustomers).where(eq(paymentCustomers.organisationId, organisationId));
  return row ?? null;
}

/**
 * Returns the customer at the provider of an organisation that has none here, because it was created after the backup
 * from which the database was restored. The request for a customer always has the same idempotency key, so for a day
 * the provider answers with the one that it created. Later it creates another one. Null if there is no such
 * organisation, or if it has a customer. After a failure the next call repeats the request: only its key finds the
 * customer.
 *
 * @throws AppError BILLING_UNAVAILABLE; BUSY; PROVIDER_UNAVAILABLE.
 */
export async function recoverCustomer(app: App, organisationId: string): Promise<string | null> {
  if (!isUuid(organisationId)) return null;
  const isKnown = (await app.db.$count(organisations, eq(organisations.id, organisationId))) > 0;
  if (!isKnown || (await readCustomer(app, organisationId)) !== null) return null;

  return withLease(app, leaseOf(organisationId), (ask) => requestCustomer(app, ask, organisationId));
}
