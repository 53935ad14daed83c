import { inArray } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { paymentEvents } from '../../platform/db/schema/billing.ts';
import { undeliveredEvents } from '../../platform/providers/payment/account.ts';
import { type PaymentEvent, parseEvent } from '../../platform/providers/payment/event.ts';
import { requirePayment } from '../actions/require-payment.ts';
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
  for await (const { events, more } of undeliveredEvents(ask)) {
    applied += await applyNew(app, events);
    if (++pages < maxPages || !more) continue;

    app.log.warn('The payment provider lists more undelivered events than one run applies.', { pages });
    break;
  }
  return applied;
}

async function applyNew(app: App, listed: object[]): Promise<number> {
  if (listed.length === 0) return 0;
  const parsed = listed.flatMap((value) => {
    const event = parseEvent(value);
    return event === null ? [] : [{ event, value }];
  });
  const ids = parsed.map(({ event }) => event.id);
  const known = await app.db.select({ id: paymentEvents.id }).from(paymentEvents).where(inArray(paymentEvents.id, ids));
  const knownIds = new Set(known.map(({ id }) => id));

  let count = 0;
  for (const { event, value } of parsed) {
    if (knownIds.has(event.id)) continue;
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
