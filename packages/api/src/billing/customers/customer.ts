import { and, asc, desc, eq, isNotNull, isNull, or, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { paymentCustomers } from '../../platform/db/schema/billing.ts';
import { AppError } from '../../platform/errors.ts';
import { type Ask, isMissing, providerErrorOf } from '../../platform/providers/payment.ts';
import { requirePayment } from '../actions/require-payment.ts';
import { ofOurMode } from '../entitlement/read-plan.ts';
import { withLease } from './lease.ts';

/**
 * Runs `work` with the organisation's lease and its customer at the provider, which is
 * created if there is none. A customer that the provider has deleted is replaced, once.
 *
 * @throws AppError BILLING_UNAVAILABLE; BUSY; PROVIDER_UNAVAILABLE, also if the provider does not know the
 *   customer, because a wrong key gets the same answer.
 */
export async function withCustomer<Result>(
  app: App,
  organisationId: string,
  work: (ask: Ask, customerId: string, holder: string) => Promise<Result>,
): Promise<Result> {
  return withLease(app, leaseOf(organisationId), async (ask, holder) => {
    const customerId = await ensureCustomer(app, ask, organisationId);
    try {
      const result = await work(ask, customerId, holder);
      await confirmCustomer(app, customerId);
      return result;
    } catch (error) {
      if (!isMissing(error, 'customer')) throw error;
      const found = await checkCustomer(app, ask, { organisationId, customerId });
      if (found === 'known') throw error;
      if (found === 'unknown') throw unknownCustomer();
      return work(ask, await ensureCustomer(app, ask, organisationId), holder);
    }
  });
}

/** The name of an organisation's lease. */
export function leaseOf(organisationId: string): string {
  return `organisation:${organisationId}`;
}

/** Returns the organisation's customer at the provider in our key's mode; null if it has none. */
export async function currentCustomer(app: App, organisationId: string): Promise<string | null> {
  return (await currentGeneration(app, organisationId))?.customerId ?? null;
}

export type Customer = { organisationId: string; customerId: string; goneAt: Date | null };

/** Returns all customers that the organisation has ever had in our key's mode, oldest first. */
export async function customersOf(app: App, organisationId: string): Promise<Customer[]> {
  const rows = await app.db
    .select({
      organisationId: paymentCustomers.organisationId,
      customerId: paymentCustomers.customerId,
      goneAt: paymentCustomers.goneAt,
    })
    .from(paymentCustomers)
    .where(
      and(
        eq(paymentCustomers.organisationId, organisationId),
        isNotNull(paymentCustomers.customerId),
        ofOurMode(app, paymentCustomers.livemode),
      ),
    )
    .orderBy(asc(paymentCustomers.generation));
  return rows.flatMap(({ customerId, ...row }) => (customerId === null ? [] : [{ ...row, customerId }]));
}

/**
 * Asks the provider about a customer that it called missing, and stores the result. Only an explicit
 * `deleted` ends a customer. A customer that this key does not know is flagged and otherwise not
 * changed, because a key of the other mode or account gets the same answer.
 *
 * @throws AppError PROVIDER_UNAVAILABLE if the provider does not answer.
 */
export async function checkCustomer(
  app: App,
  ask: Ask,
  { organisationId, customerId }: Omit<Customer, 'goneAt'>,
): Promise<'known' | 'deleted' | 'unknown'> {
  try {
    const found = await ask((provider) => provider.customers.retrieve(customerId));
    if (found.deleted !== true) {
      await confirmCustomer(app, customerId);
      return 'known';
    }
    await app.db
      .update(paymentCustomers)
      .set({
        goneAt: sql`coalesce(${paymentCustomers.goneAt}, ${app.now().toISOString()}::timestamptz)`,
        problem: null,
      })
      .where(eq(paymentCustomers.customerId, customerId));
    return 'deleted';
  } catch (error) {
    if (!isMissing(error)) throw error;
    app.log.warn('The payment provider does not know a customer. The key may be a wrong one.', {
      organisationId,
      customerId,
      key: requirePayment(app).key,
    });
    await app.db
      .update(paymentCustomers)
      .set({ problem: 'unknown_to_provider' })
      .where(eq(paymentCustomers.customerId, customerId));
    return 'unknown';
  }
}

/**
 * Stores that the provider knows the customer under our key: its mode is the key's, and its problem
 * is removed.
 *
 * @throws AppError BILLING_UNAVAILABLE.
 */
export async function confirmCustomer(app: App, customerId: string): Promise<void> {
  await app.db
    .update(paymentCustomers)
    .set({ livemode: requirePayment(app).livemode, problem: null })
    .where(
      and(
        eq(paymentCustomers.customerId, customerId),
        or(isNull(paymentCustomers.livemode), isNotNull(paymentCustomers.problem)),
      ),
    );
}

/**
 * Returns the AppError PROVIDER_UNAVAILABLE for a customer that the provider does not know under our
 * key. No row changes, because the customer may exist under another key.
 */
export function unknownCustomer(): AppError {
  return new AppError(
    'PROVIDER_UNAVAILABLE',
    'The payment provider does not know this organisation’s plan. Ask the operator of this service.',
  );
}

/**
 * Returns the organisation's customer, and creates it if there is none. The caller holds the organisation's lease.
 * After a failure of the provider (5xx) the idempotency key would replay that failure for a day, so the next
 * generation gets another key.
 *
 * @throws AppError BILLING_UNAVAILABLE; PROVIDER_UNAVAILABLE.
 */
export async function ensureCustomer(app: App, ask: Ask, organisationId: string): Promise<string> {
  const current = await ensureGeneration(app, organisationId);
  try {
    return await requestCustomer(app, ask, organisationId, current);
  } catch (error) {
    if ((providerErrorOf(error)?.status ?? 0) >= 500) {
      await app.db.update(paymentCustomers).set({ goneAt: app.now() }).where(isGeneration(organisationId, current));
    }
    throw error;
  }
}

/**
 * Returns the organisation's customer, by the same request as the one that created it or by the first one. The caller
 * holds the organisation's lease. After a failure the next call repeats that request: only its key finds the customer.
 *
 * @throws AppError BILLING_UNAVAILABLE; PROVIDER_UNAVAILABLE.
 */
export async function repeatCustomerRequest(app: App, ask: Ask, organisationId: string): Promise<string> {
  return requestCustomer(app, ask, organisationId, await ensureGeneration(app, organisationId));
}

type Generation = { generation: number; customerId: string | null };

/**
 * Stores the customer before any other request for it. The idempotency key and the parameters are constant, so a lost
 * answer is repeated.
 */
async function requestCustomer(app: App, ask: Ask, organisationId: string, current: Generation): Promise<string> {
  if (current.customerId !== null) return current.customerId;

  const { generation } = current;
  const idempotencyKey = `customer:${organisationId}${generation === 1 ? '' : `:${generation}`}`;
  const { livemode } = requirePayment(app);
  const customer = await ask((provider) =>
    provider.customers.create({ metadata: { organisation: organisationId } }, { idempotencyKey }),
  );
  const isThis = isGeneration(organisationId, current);
  await app.db.update(paymentCustomers).set({ customerId: customer.id, livemode }).where(isThis);
  return customer.id;
}

function isGeneration(organisationId: string, { generation }: Generation) {
  return and(eq(paymentCustomers.organisationId, organisationId), eq(paymentCustomers.generation, generation));
}

async function ensureGeneration(app: App, organisationId: string): Promise<Generation> {
  const current = await currentGeneration(app, organisationId);
  if (current !== null) return current;

  const [{ generation = 1 } = {}] = await app.db
    .insert(paymentCustomers)
    .values({
      organisationId,
      generation: sql`(select coalesce(max(generation), 0) + 1 from payment_customers where organisation_id = ${organisationId})`,
      livemode: requirePayment(app).livemode,
      createdAt: app.now(),
    })
    .returning({ generation: paymentCustomers.generation });
  return { generation, customerId: null };
}

async function currentGeneration(app: App, organisationId: string) {
  const [current] = await app.db
    .select({ generation: paymentCustomers.generation, customerId: paymentCustomers.customerId })
    .from(paymentCustomers)
    .where(
      and(
        eq(paymentCustomers.organisationId, organisationId),
        isNull(paymentCustomers.goneAt),
        ofOurMode(app, paymentCustomers.livemode),
      ),
    )
    .orderBy(desc(paymentCustomers.generation))
    .limit(1);
  return current ?? null;
}
