import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { AppError, invalid } from '../../errors.ts';
import type { Principal } from '../../sessions/principal.ts';
import { organisationMeantIfNamed } from '../../sessions/require-same-organisation.ts';
import { withCustomer } from '../customers/customer.ts';
import { type PaidTier, paidTiers } from '../plans/plans.ts';
import { liveSubscriptions } from '../sync/sync.ts';
import { changePlan } from './change-plan.ts';
import { type Conversation, createSession, expireAll, openSessions, priceOf, sessionFor } from './checkout-session.ts';
import { requirePayment } from './require-payment.ts';

/**
 * The address where the organisation buys or changes to a paid tier. However many ask at
 * once, there is one customer, one open checkout and never a second live subscription.
 */
export async function startCheckout(
  app: App,
  principal: Principal,
  input: { tier: unknown; organisation_id?: unknown },
): Promise<{ url: string }> {
  principal.require('ADMIN');
  requirePayment(app);
  const tier = readTier(input.tier);
  const organisationId = organisationMeantIfNamed(principal, input.organisation_id).id;

  const url = await withCustomer(app, organisationId, async (ask, customerId, holder) => {
    const talk = { ask, holder, organisationId, customerId, tier };
    for (let attempt = 0; attempt < 3; attempt++) {
      const address = await checkoutAddress(app, talk);
      if (address !== null) return address;
    }
    throw new AppError('BUSY', 'A payment of this organisation is just being made. Try again in a moment.', {
      retryAfterSeconds: 5,
    });
  });

  const actorId = principal.user.id;
  await recordAudit(app.db, app.now(), { action: 'plan-checkout', actorId, organisationId, details: { tier } });
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
  const live = await liveSubscriptions(app, talk.ask, talk);

  if (live.length > 0) {
    return (await expireAll(app, talk, open)) ? changePlan(app, talk, live) : null;
  }

  const price = await priceOf(app, talk);
  const same = await sessionFor(app, open, price.id);
  const others = open.filter((session) => session !== same);
  if (!(await expireAll(app, talk, others))) return null;
  return same?.url ?? (await createSession(app, talk, price));
}
