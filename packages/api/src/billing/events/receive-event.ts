import type { App } from '../../app.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { AppError, toAppError } from '../../platform/errors.ts';
import {
  type PaymentEvent,
  parseEvent,
  referencesOf,
  subscriptionAfter,
  thinTypeOf,
} from '../../platform/providers/payment/event.ts';
import { type SignedText, verifyDelivery } from '../../platform/providers/payment/verify-delivery.ts';
import { handleEvent, handlerOf } from './event-handlers.ts';
import { applied, eventOutcomes, lockOwner, storeEvent, storeOutcome, wasHandled } from './event-store.ts';

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

  try {
    return await applyEvent(app, event, payload);
  } catch (cause) {
    app.metrics.count('gatehouse_payment_events_total', { outcome: 'failed' });
    app.log.error('A payment event could not be applied.', { type: event.type, event: event.id, error: cause });
    throw new AppError('INTERNAL', 'Could not process the event.', { cause });
  }
}

async function verifyEvent(app: App, delivery: SignedText): Promise<PaymentEvent> {
  const signed = await verify(app, delivery);
  const event = parseEvent(signed);
  if (event !== null) return event;
  const thin = thinTypeOf(signed);
  const sentence = `This endpoint needs snapshot payloads, and ${thin} came with a thin one.`;
  throw new AppError('VALIDATION', thin === null ? 'This is not an event.' : sentence);
}

async function verify(app: App, delivery: SignedText): Promise<unknown> {
  try {
    return await verifyDelivery(delivery, app.config.webhookSecrets, app.now());
  } catch (cause) {
    throw new AppError('VALIDATION', cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/**
 * Stores an event and writes what it shows, if that is newer than what is stored: in one transaction, under the lock of
 * the organisation's row, and without a request to the provider. A duplicate changes nothing and gets the first one's
 * answer. The subscription's row is marked, and after the commit this process asks the provider about it: its answer
 * makes right what the events' own times cannot. After a crash the sweep that runs each minute asks.
 */
export async function applyEvent(app: App, event: PaymentEvent, payload: string): Promise<Answer> {
  const { handled, outcome, toSync, handler } = await app.db.transaction((tx) => apply(app, tx, event, payload));
  app.metrics.count('gatehouse_payment_events_total', { outcome });

  if (toSync !== null) app.syncs.request(toSync);
  if (handler === 'prices') app.jobs.wake('payment-prices');
  if (handler === 'money') app.jobs.wake('payment-owner');
  if (handler === 'customer_gone') app.jobs.wake('payment-sync');
  if (handler === 'customer_changed') {
    for (const job of ['payment-contact', 'payment-card', 'payment-sync'] as const) app.jobs.wake(job);
  }
  return { received: true, handled };
}

async function apply(app: App, tx: Transaction, event: PaymentEvent, payload: string) {
  const isOurMode = app.payment !== null && event.livemode === (app.payment.mode === 'live');
  const handler = isOurMode ? handlerOf(event.type) : null;
  const outcome = handler !== null ? applied : isOurMode ? eventOutcomes.ignored : eventOutcomes.other_mode;
  const state = handler === 'state' ? subscriptionAfter(event) : null;
  const references = referencesOf(event, state);

  const organisationId = await lockOwner(tx, references);
  if (!(await storeEvent(tx, app, { event, payload, references, organisationId, outcome }))) {
    return { handled: await wasHandled(tx, event.id), outcome: 'duplicate' as const, toSync: null, handler: null };
  }
  if (handler === null) return { ...outcome, toSync: null, handler };

  const found = await handleEvent(app, tx, { event, state, references, organisationId, handler });
  if (found.outcome !== outcome) await storeOutcome(tx, event.id, found.outcome);
  return { ...found.outcome, toSync: found.toSync, handler };
}
