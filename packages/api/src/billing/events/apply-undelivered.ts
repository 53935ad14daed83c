import { inArray } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { paymentEvents } from '../../platform/db/schema/billing.ts';
import { pagesOf } from '../../platform/providers/list-all.ts';
import { requirePayment } from '../actions/require-payment.ts';
import { type PaymentEvent, parseEvent } from '../subscription/provider-objects.ts';
import { applyEvent } from './receive-event.ts';

/** Undelivered events may belong to other endpoints and be many, so one run is bounded. */
const maxPages = 50;

/**
 * Applies the events that the provider could not deliver, by the function that the webhook
 * uses. They may belong to other endpoints, be a month old, and have the API version of their
 * creation. Returns how many were new.
 *
 * @throws AppError BILLING_UNAVAILABLE; PROVIDER_UNAVAILABLE, also if the provider's list is incomplete.
 */
export async function applyUndelivered(app: App): Promise<number> {
  const { ask } = requirePayment(app);

  let applied = 0;
  let pages = 0;
  const undelivered = pagesOf(ask, (provider, cursor) => provider.events.list({ delivery_success: false, ...cursor }));
  for await (const { data, has_more } of undelivered) {
    applied += await applyNew(app, data);
    if (++pages < maxPages || !has_more) continue;

    app.log.warn('The payment provider lists more undelivered events than one run applies.', { pages });
    break;
  }
  return applied;
}

async function applyNew(app: App, listed: { id: string }[]): Promise<number> {
  if (listed.length === 0) return 0;
  const ids = listed.map(({ id }) => id);
  const known = await app.db.select({ id: paymentEvents.id }).from(paymentEvents).where(inArray(paymentEvents.id, ids));
  const knownIds = new Set(known.map(({ id }) => id));

  let count = 0;
  for (const value of listed) {
    const event = parseEvent(value);
    if (event === null || knownIds.has(event.id)) continue;
    if (await applyOne(app, event, JSON.stringify(value))) count++;
  }
  return count;
}

/** An event that cannot be applied does not stop the others; the next run tries it again. */
async function applyOne(app: App, event: PaymentEvent, payload: string): Promise<boolean> {
  try {
    await applyEvent(app, event, payload);
    return true;
  } catch (error) {
    app.log.error('A payment event could not be applied.', { type: event.type, event: event.id, error });
    return false;
  }
}
