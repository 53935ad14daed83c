import { and, eq, ne } from 'drizzle-orm';
import type { App } from '../app.ts';
import { recordAudit } from '../audit/record.ts';
import { expireCheckouts } from '../billing/actions/checkouts.ts';
import { requirePayment } from '../billing/actions/require-payment.ts';
import { leaseOf, nextCustomer, readCustomer } from '../billing/customers/customer.ts';
import { withLease } from '../billing/customers/lease.ts';
import { claimMode } from '../billing/mode.ts';
import { readRows } from '../billing/subscription/subscription-rows.ts';
import { liveSubscriptions, syncCustomer } from '../billing/sync/sync.ts';
import { paymentCustomers } from '../platform/db/schema/billing.ts';
import { AppError, isSqlState } from '../platform/errors.ts';
import { openCheckoutsOf } from '../platform/providers/payment/checkouts.ts';
import { type Ask, isMissing } from '../platform/providers/payment/connection.ts';
import * as provider from '../platform/providers/payment/customers.ts';
import type { Actor } from './actor.ts';
import { readOrganisationNames } from './find-accounts.ts';

/** A subscription of the customer, as it is stored after the sync; `tier` is null where its price is of none. */
type Found = { id: string; status: string; tier: string | null };

/**
 * Makes a customer who was there before Gatehouse, with its subscriptions, the organisation's. Its metadata name the
 * organisation afterwards, as those of a customer that is made here. The organisation's own customer, which it replaces, stays
 * at the provider, and its open checkouts expire, so that nobody pays there. May be repeated.
 *
 * @returns the customer's subscriptions.
 * @throws AppError NOT_FOUND; BILLING_UNAVAILABLE; BUSY; PROVIDER_UNAVAILABLE; VALIDATION if the provider does not know the
 *   customer or has deleted it, if it is of the other mode, names or has another organisation, or if the organisation has
 *   a live subscription with its own customer; Error for a key of the other mode.
 */
export async function linkCustomer(
  app: App,
  { organisationId, customerId }: { organisationId: string; customerId: string },
  actor: Actor,
): Promise<Found[]> {
  const { key, mode } = requirePayment(app);
  await claimMode(app);
  const { slug } = await readOrganisationNames(app.db, organisationId);

  return withLease(app, leaseOf(organisationId), async (ask) => {
    const own = await readCustomer(app, organisationId);
    if (own?.id !== customerId) {
      await checkLinkable(app, ask, { organisationId, customerId, mode });
      if (own !== null) await giveUp(app, ask, { organisationId, slug, customerId: own.id, isGone: own.isGone });
      await provider.nameOrganisation(ask, customerId, organisationId);
      await store(app, { organisationId, customerId, key }, actor);
    }
    await syncCustomer(app, ask, { organisationId, customerId });
    const { rows } = await readRows(app.db, { organisationId });
    const theirs = rows.filter((row) => row.customerId === customerId && !row.ended);
    return theirs.map(({ id, status, tier }) => ({ id, status: status ?? 'unknown', tier }));
  });
}

type Link = { organisationId: string; customerId: string };

/** Checks that the customer is there, of our mode, and nobody else's. */
async function checkLinkable(app: App, ask: Ask, { organisationId, customerId, mode }: Link & { mode: string }) {
  const found = await provider.readCustomer(ask, customerId).catch((error: unknown) => {
    if (isMissing(error)) throw refused(`The payment provider does not know ${customerId} under this key.`);
    throw error;
  });
  if (found.isDeleted) throw refused(`${customerId} was deleted at the provider.`);
  if (found.livemode !== (mode === 'live')) throw refused(`${customerId} is not of ${mode} mode.`);
  if (found.organisation !== null && found.organisation !== organisationId)
    throw refused(`The metadata of ${customerId} name another organisation: ${found.organisation}.`);

  const isOthers = and(
    eq(paymentCustomers.customerId, customerId),
    ne(paymentCustomers.organisationId, organisationId),
  );
  if ((await app.db.$count(paymentCustomers, isOthers)) > 0) throw isTaken(customerId);
}

/** Expires what could still be paid at the organisation's own customer, which must have no live subscription. */
async function giveUp(
  app: App,
  ask: Ask,
  { organisationId, slug, customerId, isGone }: Link & { slug: string; isGone: boolean },
) {
  const open = isGone ? [] : await openCheckoutsOf(ask, customerId);
  const wereOpen = await expireCheckouts(app, ask, open);
  const live = await liveSubscriptions(app, ask, { organisationId });
  if (live.length > 0 || !wereOpen) {
    const ids = live.map(({ id }) => id).join(', ');
    throw refused(`${slug} has a live subscription with its own customer ${customerId}: ${ids}. End it first.`);
  }
}

async function store(
  app: App,
  { organisationId, customerId, key }: Link & { key: string },
  actor: Actor,
): Promise<void> {
  const now = app.now();
  try {
    await app.db.transaction(async (tx) => {
      await tx
        .insert(paymentCustomers)
        .values({ organisationId, customerId, createdAt: now })
        .onConflictDoUpdate({ target: paymentCustomers.organisationId, set: { ...nextCustomer, customerId } });
      const details = { customer: customerId, key };
      await recordAudit(tx, now, { action: 'customer-linked', ...actor, organisationId, details });
    });
  } catch (error) {
    // Another organisation got it meanwhile.
    if (isSqlState(error, '23505')) throw isTaken(customerId);
    throw error;
  }
}

function isTaken(customerId: string): AppError {
  return refused(`${customerId} is another organisation’s customer.`);
}

function refused(sentence: string): AppError {
  return new AppError('VALIDATION', sentence);
}
