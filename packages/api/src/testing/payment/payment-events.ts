import Stripe from 'stripe';
import type { App } from '../../app.ts';
import { receiveEvent } from '../../billing/events/receive-event.ts';
import { sandboxPayment } from '../app.ts';

let made = 0;

/** Returns an event about an object, in the provider's form. */
export function makeEvent(app: App, type: string, object: object, more: object = {}) {
  return {
    id: `evt_made_${++made}`,
    object: 'event',
    api_version: null,
    created: Math.floor(app.now().getTime() / 1000),
    type,
    livemode: false,
    data: { object },
    ...more,
  };
}

/** Returns the body of an event with its signature. */
export function signed(app: App, event: object): { payload: string; signature: string } {
  const payload = JSON.stringify(event);
  const timestamp = Math.floor(app.now().getTime() / 1000);
  const { webhookSecret: secret } = sandboxPayment;
  return { payload, signature: Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp }) };
}

/** Delivers an event with a valid signature. */
export function deliver(app: App, event: object) {
  const { payload, signature } = signed(app, event);
  return receiveEvent(app, { body: Buffer.from(payload), signature });
}
