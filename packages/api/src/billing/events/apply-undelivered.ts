import { desc, inArray, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { paymentEvents } from '../../platform/db/schema/billing.ts';
import { hourSeconds } from '../../platform/durations.ts';
import { webhookUrl } from '../../platform/links.ts';
import { eventsSince, undeliveredEvents, webhookEndpoints } from '../../platform/providers/payment/account.ts';
import { type Ask, providerErrorOf } from '../../platform/providers/payment/connection.ts';
import { type PaymentEvent, parseEvent } from '../../platform/providers/payment/event.ts';
import { requirePayment } from '../actions/require-payment.ts';
import { readSetting, saveSetting } from '../settings.ts';
import { subscribedTypes } from './event-handlers.ts';
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
    applied += (await applyNew(app, events)).applied;
    if (++pages < maxPages || !more) continue;

    app.log.warn('The payment provider lists more undelivered events than one run applies.', { pages });
    break;
  }
  return applied;
}

const settingName = 'events_known_until';
const silenceSeconds = hourSeconds;

/**
 * Applies the events that were never delivered nor listed as undelivered, because the provider had disabled the
 * endpoint. Where no event came for an hour, or the endpoint is disabled now, all events since then are listed. The
 * second until which nothing can be missing is stored. Returns how many were new, and whether there was such a silence: then all
 * rows are to be compared, because what happened may be older than the events that the provider keeps, or a type that it
 * did not send.
 *
 * @throws AppError BILLING_UNAVAILABLE; PROVIDER_UNAVAILABLE: the next run lists the same again.
 */
export async function applyMissed(app: App): Promise<{ applied: number; wasSilent: boolean }> {
  const { ask } = requirePayment(app);
  const now = Math.floor(app.now().getTime() / 1000);
  const newest = await newestEvent(app);
  const known = await readSetting(app.db, settingName);
  const since = known === null ? (newest ?? now) : Number(known);
  const wasSilent = (await longestSilence(app, since, newest, now)) > silenceSeconds || (await isDisabled(app, ask));

  let [applied, failed] = [0, 0];
  if (wasSilent) {
    const listed: object[] = [];
    for await (const events of eventsSince(ask, since, subscribedTypes)) listed.push(...events);
    ({ applied, failed } = await applyNew(app, listed));
    if (applied > 0) app.log.warn('The payment provider had not delivered all events.', { applied });
  }
  // The time after the newest event is not known: the endpoint may have been disabled since. After a failure the next run
  // lists the same again.
  const until = failed > 0 ? since : ((await newestEvent(app)) ?? since);
  await saveSetting(app.db, settingName, String(until));
  return { applied, wasSilent };
}

/** The provider's second of the event that arrived last; null before the first one. */
async function newestEvent(app: App): Promise<number | null> {
  const [newest] = await app.db
    .select({ created: paymentEvents.created })
    .from(paymentEvents)
    .orderBy(desc(paymentEvents.receivedAt), desc(paymentEvents.number))
    .limit(1);
  return newest?.created ?? null;
}

/** The longest time without an event since a second of the provider's clock, in seconds. */
async function longestSilence(app: App, since: number, newest: number | null, now: number): Promise<number> {
  const [row] = await app.db.execute<{ gap: number | null }>(sql`
    select max(gap)::float8 as gap from (
      select created - lag(created, 1, ${since}::bigint) over (order by created) as gap
      from ${paymentEvents} where ${paymentEvents.created} >= ${since}) as gaps`);
  return Math.max(row?.gap ?? 0, now - (newest ?? since));
}

/** Whether the provider has switched our endpoint off. A key may lack the right to read it. */
async function isDisabled(app: App, ask: Ask): Promise<boolean> {
  if (app.config.publicBaseUrl === null) return false;
  const url = webhookUrl(app.config);
  try {
    const ours = (await webhookEndpoints(ask)).filter((each) => each.url === url);
    const disabled = ours.length > 0 && !ours.some(({ isEnabled }) => isEnabled);
    if (disabled)
      app.log.warn('The payment provider has switched the webhook endpoint off. Switch it on there.', { url });
    return disabled;
  } catch (error) {
    if (providerErrorOf(error)?.status !== 403) throw error;
    return false;
  }
}

/** A statement has at most 65,535 parameters. After days without events the provider lists more. */
const batchSize = 1000;

/** Applies what is new of listed events, the oldest first: the provider lists the newest first. */
async function applyNew(app: App, listed: object[]): Promise<{ applied: number; failed: number }> {
  const parsed = listed.toReversed().flatMap((value) => {
    const event = parseEvent(value);
    return event === null ? [] : [{ event, value }];
  });
  parsed.sort((one, other) => one.event.created - other.event.created);
  const count = { applied: 0, failed: 0 };
  for (let at = 0; at < parsed.length; at += batchSize) {
    const batch = parsed.slice(at, at + batchSize);
    const isListed = inArray(
      paymentEvents.id,
      batch.map(({ event }) => event.id),
    );
    const known = await app.db.select({ id: paymentEvents.id }).from(paymentEvents).where(isListed);
    const knownIds = new Set(known.map(({ id }) => id));
    for (const { event, value } of batch) {
      if (knownIds.has(event.id)) continue;
      count[(await applyOne(app, event, JSON.stringify(value))) ? 'applied' : 'failed'] += 1;
    }
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
