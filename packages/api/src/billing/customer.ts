import { and, desc, eq, isNull, sql } from 'drizzle-orm';
import type { App } from '../app.ts';
import { paymentCustomers } from '../db/schema.ts';
import { type Ask, complaintOf, isMissing } from '../providers/payment.ts';
import { withLease } from './lease.ts';

/**
 * A conversation with the provider about an organisation's customer, which is created
 * where there is none. A customer that the provider does not know any more is created
 * anew, once.
 */
export async function withCustomer<Result>(
  app: App,
  organisationId: string,
  talk: (ask: Ask, customerId: string, holder: string) => Promise<Result>,
): Promise<Result> {
  return withLease(app, leaseOf(organisationId), async (ask, holder) => {
    const customerId = await ensureCustomer(app, ask, organisationId);
    try {
      return await talk(ask, customerId, holder);
    } catch (error) {
      if (!isMissing(error, 'customer')) throw error;

      app.log.warn('The payment provider does not know a customer any more.', { organisationId, customerId });
      await markGone(app, customerId);
      return talk(ask, await ensureCustomer(app, ask, organisationId), holder);
    }
  });
}

export function leaseOf(organisationId: string): string {
  return `organisation:${organisationId}`;
}

/** The organisation's customer at the provider, if it has one. */
export async function currentCustomer(app: App, organisationId: string): Promise<string | null> {
  return (await currentGeneration(app, organisationId))?.customerId ?? null;
}

/**
 * The customer is stored before anything else is asked for it. Its idempotency key and
 * its parameters never change, so an answer that got lost is given again; a key that
 * met a failure of the provider would replay that failure for a day and is left behind.
 */
async function ensureCustomer(app: App, ask: Ask, organisationId: string): Promise<string> {
  const { generation, customerId } = await ensureGeneration(app, organisationId);
  if (customerId !== null) return customerId;

  const thisGeneration = and(
    eq(paymentCustomers.organisationId, organisationId),
    eq(paymentCustomers.generation, generation),
  );
  const idempotencyKey = `customer:${organisationId}${generation === 1 ? '' : `:${generation}`}`;
  try {
    const customer = await ask((provider) =>
      provider.customers.create({ metadata: { organisation: organisationId } }, { idempotencyKey }),
    );
    await app.db.update(paymentCustomers).set({ customerId: customer.id }).where(thisGeneration);
    return customer.id;
  } catch (error) {
    if ((complaintOf(error)?.status ?? 0) >= 500) {
      await app.db.update(paymentCustomers).set({ goneAt: app.now() }).where(thisGeneration);
    }
    throw error;
  }
}

async function ensureGeneration(app: App, organisationId: string) {
  const current = await currentGeneration(app, organisationId);
  if (current !== null) return current;

  const [{ generation = 1 } = {}] = await app.db
    .insert(paymentCustomers)
    .values({
      organisationId,
      generation: sql`(select coalesce(max(generation), 0) + 1 from payment_customers where organisation_id = ${organisationId})`,
      createdAt: app.now(),
    })
    .returning({ generation: paymentCustomers.generation });
  return { generation, customerId: null };
}

async function currentGeneration(app: App, organisationId: string) {
  const [current] = await app.db
    .select({ generation: paymentCustomers.generation, customerId: paymentCustomers.customerId })
    .from(paymentCustomers)
    .where(and(eq(paymentCustomers.organisationId, organisationId), isNull(paymentCustomers.goneAt)))
    .orderBy(desc(paymentCustomers.generation))
    .limit(1);
  return current ?? null;
}

async function markGone(app: App, customerId: string): Promise<void> {
  await app.db.update(paymentCustomers).set({ goneAt: app.now() }).where(eq(paymentCustomers.customerId, customerId));
}
