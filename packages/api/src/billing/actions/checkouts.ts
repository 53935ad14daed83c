import { and, eq, inArray, isNull } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { lockOrganisation } from '../../organisations/organisation.ts';
import type { Executor } from '../../platform/db/client.ts';
import { paymentCheckouts, paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { AppError } from '../../platform/errors.ts';
import { checkoutReturn } from '../../platform/links.ts';
import { message } from '../../platform/messages.ts';
import {
  type CheckoutSession,
  expireCheckout,
  openCheckout,
  openCheckoutsOf,
} from '../../platform/providers/payment/checkouts.ts';
import { type Ask, isMissing } from '../../platform/providers/payment/connection.ts';
import { leaseOf, readCustomer } from '../customers/customer.ts';
import { withLease } from '../customers/lease.ts';
import { type Interval, type PaidTier, planOf } from '../plans/plans.ts';
import { readCurrency } from '../prices/currency.ts';
import { lookUpPrices } from '../prices/live-prices.ts';
import type { TierPrice } from '../prices/read-prices.ts';
import { startedStatuses } from '../subscription/write-row.ts';
import { claimTrial, releaseTrial } from '../trials/trial.ts';

/** A checkout in progress, under the organisation's lease. */
export type CheckoutContext = {
  ask: Ask;
  organisationId: string;
  customerId: string;
  tier: PaidTier;
  /** One of those for which the plans sell the tier. */
  interval: Interval;
};

/** A price at the provider, and the currency in which the organisation buys it. */
export type OfferedPrice = TierPrice & { buyIn: string };

/**
 * Returns the current price of a tier and interval at the provider, with the organisation's currency. Where no currency
 * was chosen, a price that lacks the deployment's is bought in its own.
 *
 * @throws AppError VALIDATION if there is none, or none in the currency; PROVIDER_UNAVAILABLE.
 */
export async function priceOf(
  app: App,
  { ask, tier, interval, organisationId }: CheckoutContext,
): Promise<OfferedPrice> {
  const prices = await lookUpPrices(app, ask);
  const price = prices.find((each) => each.tier === tier && each.interval === interval)?.found ?? null;
  if (price === null) {
    throw new AppError('VALIDATION', message('plan_not_sold'), { pageText: message('plan_not_sold_now') });
  }
  const { currency, isOwn } = await readCurrency(app, organisationId);
  if (price.currencies.includes(currency)) return { ...price, buyIn: currency };
  if (!isOwn) return { ...price, buyIn: price.currency };
  const values = { plan: planOf(app.plans, tier).name, currency: currency.toUpperCase() };
  throw new AppError('VALIDATION', message('plan_not_sold_in', values));
}

/** Returns the open session for the same price, by our record of it; null if there is none. */
export async function recordedCheckout(
  app: App,
  open: CheckoutSession[],
  priceId: string,
): Promise<CheckoutSession | null> {
  if (open.length === 0) return null;
  const recorded = await app.db
    .select({ id: paymentCheckouts.id })
    .from(paymentCheckouts)
    .where(
      and(
        inArray(
          paymentCheckouts.id,
          open.map(({ id }) => id),
        ),
        eq(paymentCheckouts.priceId, priceId),
        isNull(paymentCheckouts.closedAt),
      ),
    );
  return open.find((session) => session.url !== null && recorded.some(({ id }) => id === session.id)) ?? null;
}

/**
 * Expires checkout sessions. Returns false if any cannot be expired because it is complete; the others are expired.
 *
 * @throws AppError PROVIDER_UNAVAILABLE.
 */
export async function expireCheckouts(app: App, ask: Ask, sessions: CheckoutSession[]): Promise<boolean> {
  let expired = true;
  for (const { id } of sessions) {
    if (await expireCheckout(ask, id)) await closeExpired(app, app.db, id);
    else expired = false;
  }
  return expired;
}

/**
 * Closes the row of a checkout that expired without a subscription, and releases the trial that it claimed. May be
 * repeated.
 */
export async function closeExpired(app: App, db: Executor, id: string): Promise<void> {
  const [closed] = await db
    .update(paymentCheckouts)
    .set({ closedAt: app.now() })
    .where(eq(paymentCheckouts.id, id))
    .returning({ organisationId: paymentCheckouts.organisationId, openedAt: paymentCheckouts.openedAt });
  if (closed !== undefined) await releaseTrial(app, db, closed);
}

/** Returns the AppError BUSY for open checkouts that are complete each time they are read again. */
export function paymentUnderWay(): AppError {
  const sentence = message('payment_under_way');
  return new AppError('BUSY', sentence, { retryAfterSeconds: 5 });
}

/**
 * Creates a checkout session, stores it, and returns the URL of its page.
 *
 * @throws AppError PROVIDER_UNAVAILABLE; AWAITING_APPROVAL if the approval was undone meanwhile; INTERNAL
 *   without a canonical base URL.
 */
export async function createCheckout(app: App, context: CheckoutContext, price: OfferedPrice): Promise<string> {
  const { ask, organisationId, customerId, tier } = context;
  const returns = { success: checkoutReturn(app.config, 'success'), cancel: checkoutReturn(app.config, 'cancel') };
  const { methods = [], codes = false, tax = false } = app.config.payment ?? {};
  const trial = await claimTrial(app, organisationId, tier);
  const bought = { organisationId, customerId, tier, priceId: price.id, currency: price.buyIn };
  const wanted = { ...bought, methods, codes, tax, trial };
  const giveTrialBack = () => releaseTrial(app, app.db, { organisationId, openedAt: app.now() });
  const session = await openCheckout(ask, { ...wanted, ...returns }).catch(async (error: unknown) => {
    // If there is one, nobody has learnt its address.
    await giveTrialBack();
    throw error;
  });

  if (await storeIfApproved(app, organisationId, { id: session.id, priceId: price.id })) return session.url;
  await expireCheckout(ask, session.id);
  await giveTrialBack();
  throw new AppError('AWAITING_APPROVAL', message('account_awaits_approval'));
}

/**
 * Stores a session, unless the organisation's approval was undone during the request to the
 * provider: otherwise an organisation that awaits approval could pay for a plan that it cannot
 * use. Undoing takes the same lock and refuses where a session is stored.
 */
async function storeIfApproved(
  app: App,
  organisationId: string,
  { id, priceId }: { id: string; priceId: string },
): Promise<boolean> {
  return app.db.transaction(async (tx) => {
    await lockOrganisation(tx, organisationId);
    const approved = and(eq(organisations.id, organisationId), eq(organisations.approval, 'approved'));
    if ((await tx.$count(organisations, approved)) === 0) return false;
    await tx
      .insert(paymentCheckouts)
      .values({ id, organisationId, priceId, openedAt: app.now() })
      .onConflictDoNothing();
    return true;
  });
}

/**
 * Expires an organisation's open checkouts if it has a started subscription, because a payment would start a second
 * one. The subscription's own checkout is complete and therefore not open. May be repeated.
 *
 * @throws AppError BILLING_UNAVAILABLE; BUSY, also while a checkout is being paid; PROVIDER_UNAVAILABLE.
 */
export async function closeCheckoutsIfPaid(app: App, organisationId: string): Promise<void> {
  await withLease(app, leaseOf(organisationId), async (ask) => {
    if (!(await hasStartedSubscription(app, organisationId))) return;
    for (let attempt = 0; attempt < 3; attempt++) if (await closeCheckouts(app, ask, organisationId)) return;
    throw paymentUnderWay();
  });
}

/** Returns since when a checkout must have been opened to be payable: the provider expires it after a day. */
export function oldestPayable(app: App): Date {
  return new Date(app.now().getTime() - dayMilliseconds);
}

async function hasStartedSubscription(app: App, organisationId: string): Promise<boolean> {
  const started = and(eq(paymentSubscriptions.organisationId, organisationId), isStarted);
  return (await app.db.$count(paymentSubscriptions, started)) > 0;
}

const isStarted = inArray(paymentSubscriptions.status, startedStatuses);

/**
 * Expires the open checkouts of an organisation, whose lease the caller holds, and closes their rows, also those whose
 * end no event has reported. Returns false if any cannot be expired because it is complete; the others are expired.
 *
 * @throws AppError PROVIDER_UNAVAILABLE.
 */
export async function closeCheckouts(app: App, ask: Ask, organisationId: string): Promise<boolean> {
  const customer = await readCustomer(app, organisationId);
  if (customer !== null && !(await expireCheckouts(app, ask, await listKnownCheckouts(ask, customer.id)))) return false;

  const open = and(eq(paymentCheckouts.organisationId, organisationId), isNull(paymentCheckouts.closedAt));
  await app.db.update(paymentCheckouts).set({ closedAt: app.now() }).where(open);
  return true;
}

/** Returns no sessions for a customer that the provider does not know; the sync decides what that means. */
async function listKnownCheckouts(ask: Ask, customerId: string): Promise<CheckoutSession[]> {
  try {
    return await openCheckoutsOf(ask, customerId);
  } catch (error) {
    if (!isMissing(error, 'customer')) throw error;
    return [];
  }
}
