import { eq } from 'drizzle-orm';
import Stripe from 'stripe';
import { afterEach } from 'vitest';
import type { Reader } from '../../auth/principal.ts';
import { receiveEvent } from '../../billing/events/receive-event.ts';
import { readPlan } from '../../organisations/plan.ts';
import { paymentEvents } from '../../platform/db/schema/billing.ts';
import { sandboxPayment } from '../app.ts';
import { useBillingTest } from '../use-billing-test.ts';
import { makeEvent } from './payment-events.ts';

/**
 * Starts the App on the sandbox for the tests of a file that send the webhook's requests themselves. It accepts two
 * secrets, the sandbox's and 'rolled_secret'. Entries of the log do not fail the tests.
 */
export function useEventTest() {
  const billing = useBillingTest({
    environment: { PAYMENT_WEBHOOK_SECRET: `${sandboxPayment.webhookSecret},rolled_secret` },
  });
  afterEach(() => {
    billing.logged.length = 0;
  });

  /** The service's time, in seconds. */
  const second = () => Math.floor(billing.app.now().getTime() / 1000);

  function sign(payload: string, secret: string = sandboxPayment.webhookSecret, timestamp = second()): string {
    return Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
  }

  return {
    billing,
    second,
    sign,
    event: (type: string, object: object, more: object = {}) => makeEvent(billing.app, type, object, more),
    /** Delivers an event, or a body as it is, with a valid signature unless another is given. */
    receive(value: unknown, signature?: string) {
      const payload = typeof value === 'string' ? value : JSON.stringify(value);
      return receiveEvent(billing.app, { body: Buffer.from(payload), signature: signature ?? sign(payload) });
    },
    /** The row of an event in the event store. */
    async storedEvent(id: string) {
      const [row] = await billing.app.db.select().from(paymentEvents).where(eq(paymentEvents.id, id));
      return row;
    },
    tier: async (principal: Reader) => (await readPlan(billing.app, principal.organisationId ?? '')).tier,
  };
}
