import type { App } from '../../app.ts';
import { AppError, toAppError } from '../../errors.ts';
import { openDelivery, type SignedText } from '../../providers/payment.ts';
import { type Answer, applyEvent } from './apply-event.ts';
import { type PaymentEvent, parseEvent } from './parse-event.ts';

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
  const event = await openEvent(app, { payload, signature }).catch((error) => {
    app.metrics.count('gatehouse_payment_events_total', { outcome: 'refused' });
    app.logRefusedDelivery(toAppError(error).message);
    throw error;
  });

  return apply(app, event, payload);
}

async function openEvent(app: App, delivery: SignedText): Promise<PaymentEvent> {
  const event = parseEvent(await open(app, delivery));
  if (event === null) throw new AppError('VALIDATION', 'This is not an event.');
  return event;
}

async function open(app: App, delivery: SignedText): Promise<unknown> {
  try {
    return await openDelivery(delivery, app.config.webhookSecrets, app.now());
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
