import type { App } from '../../app.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { AppError, toAppError } from '../../platform/errors.ts';
import { type SignedText, verifyDelivery } from '../../platform/providers/payment.ts';
import { hasConsequences } from '../projection/consequences.ts';
import { recompute } from '../projection/projection.ts';
import { type PaymentEvent, parseEvent, readSubscriptionState, referencesOf } from '../projection/provider-objects.ts';
import { readProjectionInput, readRowBefore } from '../projection/subscription-row.ts';
import { handleEvent, handlerOf } from './event-handlers.ts';
import { applied, eventOutcomes } from './event-outcome.ts';
import {
  type Arrival,
  type InterpretedEvent,
  payloadOf,
  storeEvent,
  storeEventAgain,
  storeEventWithRow,
  storeOutcome,
  wasHandled,
} from './event-store.ts';

export type Answer = { received: true; handled: boolean };

type Delivery = {
  /** The raw bytes of the request. */
  body: Uint8Array;
  signature: string;
};

/**
 * Receives a delivery of the payment provider (interface §4, POST /webhooks/payment). Checks
 * the signature on the raw bytes first, then applies the event completely or not at all.
 *
 * @throws AppError VALIDATION if the provider did not sign the body or it is not an event, so
 *   that the provider does not retry; INTERNAL if applying failed, so that it does.
 */
export async function receiveEvent(app: App, { body, signature }: Delivery): Promise<Answer> {
  // As text, because the SDK drops a leading byte-order mark from bytes before it computes the signature.
  const payload = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  const event = await verifyEvent(app, { payload, signature }).catch((error) => {
    app.metrics.count('gatehouse_payment_events_total', { outcome: 'refused' });
    app.logRefusedDelivery(toAppError(error).message);
    throw error;
  });

  return apply(app, event, payload);
}

async function verifyEvent(app: App, delivery: SignedText): Promise<PaymentEvent> {
  const event = parseEvent(await verify(app, delivery));
  if (event === null) throw new AppError('VALIDATION', 'This is not an event.');
  return event;
}

async function verify(app: App, delivery: SignedText): Promise<unknown> {
  try {
    return await verifyDelivery(delivery, app.config.webhookSecrets, app.now());
  } catch (cause) {
    throw new AppError('VALIDATION', cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

async function apply(app: App, event: PaymentEvent, payload: string): Promise<Answer> {
  try {
    return await applyEvent(app, event, payload);
  } catch (cause) {
    app.metrics.count('gatehouse_payment_events_total', { outcome: 'failed' });
    app.log.error('A payment event could not be applied.', { type: event.type, event: event.id, error: cause });
    throw new AppError('INTERNAL', 'Could not process the event.', { cause });
  }
}

/**
 * Stores an event and updates the rows that it concerns, in one transaction and without a
 * request to the provider. The rows depend on the set of stored events, not on their order of
 * arrival. A duplicate changes nothing and gets the first one's answer. After the commit this
 * process asks the provider about the subscription. The row is marked, so that after a crash the
 * sweep that runs each minute asks.
 */
export async function applyEvent(app: App, event: PaymentEvent, payload: string): Promise<Answer> {
  const entry = interpret(app, event, payload);
  const { handled, outcome, toSync } = (await applyInOneStatement(app, entry))
    ? { ...applied, toSync: entry.references.subscriptionId }
    : await applyUnderLock(app, entry);
  app.metrics.count('gatehouse_payment_events_total', { outcome });

  if (toSync !== null) app.syncs.request(toSync);
  if (entry.handler === 'prices') app.jobs.wake('payment-prices');
  if (entry.handler === 'customer_gone') app.jobs.wake('payment-sync');
  return { received: true, handled };
}

/**
 * Applies an event that decides its subscription's row alone and from which nothing else follows, by one statement
 * that commits alone. The row is computed before, without a lock. The statement locks the organisation and writes
 * only if the row is still the version that was read: each event and each sync of a subscription writes its row.
 * Returns false and changes nothing for any other event, which needs the lock first (docs/decisions/043).
 */
async function applyInOneStatement(app: App, entry: InterpretedEvent): Promise<boolean> {
  const { event, state } = entry;
  if (state === null || state.statusClass !== 'other' || changesPlan(event)) return false;

  const before = await readRowBefore(app.db, state.id, event);
  if (before === null) return false;
  const { row, version, prices } = before;
  if (row.customerId !== state.customerId) return false;

  // A stored end would show in the row, which then differs. The number will be higher than those of all stored events.
  const last = { ...event, state, number: Number.MAX_SAFE_INTEGER };
  const recomputed = recompute(app, { row, events: [last], prices });
  if (recomputed === null || hasConsequences(row, recomputed)) return false;

  return storeEventWithRow(app.db, app, entry, { version, columns: recomputed.columns });
}

/** Whether something probably follows from an event. Computing its row without the lock would then be wasted. */
function changesPlan({ previous }: PaymentEvent): boolean {
  return previous === null || ['status', 'cancel_at', 'cancel_at_period_end'].some((name) => name in previous);
}

function applyUnderLock(app: App, entry: InterpretedEvent) {
  return app.db.transaction(async (tx) => {
    // Both statements are sent in one round trip; the reads see the event.
    const [arrival, input] = await Promise.all([storeEvent(tx, app, entry), projectionInputOf(tx, entry)]);
    if (arrival === null) {
      return { handled: await wasHandled(tx, entry.event.id), outcome: 'duplicate' as const, toSync: null };
    }
    return runHandler(app, tx, { entry, arrival, input });
  });
}

/**
 * Applies a stored event again and returns whether it was handled and the subscription to sync
 * after the commit; null if there is no such event. It keeps its number, so an old event cannot
 * outrank newer ones. Its organisation and mode are determined again, because they may have been
 * unknown when it arrived.
 */
export async function applyAgain(app: App, tx: Transaction, id: string) {
  const payload = await payloadOf(tx, id);
  const event = payload === null ? null : parseEvent(JSON.parse(payload));
  if (payload === null || event === null) return null;

  const entry = interpret(app, event, payload);
  const arrival = await storeEventAgain(tx, entry);
  if (arrival === null) return null;
  return runHandler(app, tx, { entry, arrival, input: await projectionInputOf(tx, entry) });
}

/** Returns what the event alone decides: its handler, the state that it shows and the objects that it names. */
function interpret(app: App, event: PaymentEvent, payload: string): InterpretedEvent {
  const isOurMode = app.payment !== null && event.livemode === (app.payment.mode === 'live');
  const handler = isOurMode ? handlerOf(event.type) : null;
  const outcome = handler !== null ? applied : isOurMode ? eventOutcomes.ignored : eventOutcomes.other_mode;
  const state = handler === 'state' ? readSubscriptionState(event.object) : null;
  return { event, payload, handler, state, references: referencesOf(event, state), outcome };
}

function projectionInputOf(tx: Transaction, { event, state }: InterpretedEvent) {
  return state === null ? null : readProjectionInput(tx, state.id, { parsed: { ...event, state } });
}

type HandlerInput = {
  entry: InterpretedEvent;
  arrival: Arrival;
  input: Awaited<ReturnType<typeof projectionInputOf>>;
};

/** Runs the event's handler and stores its outcome if it differs from the expected one. */
async function runHandler(app: App, tx: Transaction, { entry, arrival, input }: HandlerInput) {
  const { handler, outcome, event, references, state } = entry;
  if (handler === null) return { ...outcome, toSync: null };

  const found = await handleEvent(app, tx, { event, references, state, handler, ...arrival, input });
  if (found.outcome !== outcome) await storeOutcome(tx, event.id, found.outcome);
  return { ...found.outcome, toSync: found.toSync };
}
