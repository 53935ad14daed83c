import { randomUUID } from 'node:crypto';
import { and, eq, inArray, isNull } from 'drizzle-orm';
import type { App } from '../app.ts';
import { record } from '../audit/record.ts';
import { paymentCheckouts } from '../db/schema.ts';
import { invalid, Refusal } from '../errors.ts';
import { checkoutReturn } from '../links.ts';
import { type Ask, complaintOf } from '../providers/payment.ts';
import { organisationOf, type Principal } from '../sessions/principal.ts';
import { changePlan } from './change-plan.ts';
import { withCustomer } from './customer.ts';
import { lookUpPrices, type TierPrice } from './look-up-prices.ts';
import { type PaidTier, paidTiers } from './plans.ts';
import { requirePayment } from './require-payment.ts';
import { isEnded } from './subscription-state.ts';
import { syncCustomer } from './sync.ts';

type Conversation = { ask: Ask; organisationId: string; customerId: string; tier: PaidTier };

/**
 * The address where the organisation buys or changes to a paid tier. However many ask at
 * once, there is one customer, one open checkout and never a second live subscription.
 */
export async function startCheckout(
  app: App,
  principal: Principal,
  input: { tier: unknown },
): Promise<{ url: string }> {
  principal.require('ADMIN');
  requirePayment(app);
  const tier = readTier(input.tier);
  const organisationId = organisationOf(principal).id;

  const url = await withCustomer(app, organisationId, async (ask, customerId) => {
    const talk = { ask, organisationId, customerId, tier };
    for (let attempt = 0; attempt < 3; attempt++) {
      const address = await checkoutAddress(app, talk);
      if (address !== null) return address;
    }
    throw new Refusal('BUSY', 'A payment of this organisation is just being made. Try again in a moment.', {
      retryAfterSeconds: 5,
    });
  });

  const actorId = principal.user.id;
  await record(app.db, app.now(), { action: 'plan-checkout', actorId, organisationId, details: { tier } });
  return { url };
}

function readTier(value: unknown): PaidTier {
  const name = typeof value === 'string' ? value.trim() : '';
  const tier = paidTiers.find((each) => each === name);
  if (tier === undefined) throw invalid({ tier: 'Choose the Silver or Gold plan.' });
  return tier;
}

/** Null where an open checkout was completed meanwhile: then everything has to be asked again. */
async function checkoutAddress(app: App, talk: Conversation): Promise<string | null> {
  // The sessions first: one that is paid between the two answers then shows as a subscription.
  const open = await openSessions(talk);
  const live = (await syncCustomer(app, talk.ask, talk)).filter((state) => !isEnded(state));

  if (live.length > 0) {
    return (await expireAll(app, talk, open)) ? changePlan(app, talk, live) : null;
  }

  const price = await priceOf(app, talk);
  const same = await sessionFor(app, open, price.id);
  const others = open.filter((session) => session !== same);
  if (!(await expireAll(app, talk, others))) return null;
  return same?.url ?? (await createSession(app, talk, price));
}

async function priceOf(app: App, { ask, tier }: Conversation): Promise<TierPrice> {
  const price = (await lookUpPrices(app, ask))[tier];
  if (price === null) throw new Refusal('VALIDATION', 'This plan cannot be bought at the moment.');
  return price;
}

type Session = { id: string; url: string | null };

function openSessions({ ask, customerId }: Conversation): Promise<Session[]> {
  return ask((provider) =>
    provider.checkout.sessions
      .list({ customer: customerId, status: 'open', limit: 100 })
      .autoPagingToArray({ limit: 1000 }),
  );
}

/** The open session for the same price, as we noted when we made it. */
async function sessionFor(app: App, open: Session[], priceId: string): Promise<Session | null> {
  if (open.length === 0) return null;
  const noted = await app.db
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
  return open.find((session) => session.url !== null && noted.some(({ id }) => id === session.id)) ?? null;
}

/** Says false where one of them cannot be expired because it is complete. */
async function expireAll(app: App, { ask }: Conversation, sessions: Session[]): Promise<boolean> {
  for (const { id } of sessions) {
    try {
      await ask((provider) => provider.checkout.sessions.expire(id));
    } catch (error) {
      const status = complaintOf(error)?.status ?? 500;
      if (status >= 400 && status < 500 && status !== 429) return false;
      throw error;
    }
    await app.db.update(paymentCheckouts).set({ closedAt: app.now() }).where(eq(paymentCheckouts.id, id));
  }
  return true;
}

async function createSession(app: App, talk: Conversation, price: TierPrice): Promise<string> {
  const { ask, organisationId, customerId, tier } = talk;
  const metadata = { organisation: organisationId, tier };

  const session = await ask((provider) =>
    provider.checkout.sessions.create(
      {
        mode: 'subscription',
        customer: customerId,
        client_reference_id: organisationId,
        line_items: [{ price: price.id, quantity: 1 }],
        metadata,
        subscription_data: { metadata },
        success_url: checkoutReturn(app.config, 'success'),
        cancel_url: checkoutReturn(app.config, 'cancel'),
      },
      { idempotencyKey: randomUUID() },
    ),
  );
  if (session.url === null) throw new Error(`The payment provider gave no address for checkout ${session.id}.`);

  await app.db
    .insert(paymentCheckouts)
    .values({ id: session.id, organisationId, priceId: price.id, openedAt: app.now() })
    .onConflictDoNothing();
  return session.url;
}
