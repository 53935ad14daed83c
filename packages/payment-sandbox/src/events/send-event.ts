import Stripe from 'stripe';
import type { DeliveryAttempt } from '../provider/bookkeeping.ts';
import type { ProviderEvent, WebhookEndpoint } from '../provider/records.ts';

const attemptTimeoutMs = 10_000;

/** Sends an event once, with its signature of a time in milliseconds under both header names. Returns errors as part of the attempt and never throws. */
export async function sendEvent(
  event: ProviderEvent,
  endpoint: WebhookEndpoint,
  { signedAt, wrongSignature }: { signedAt: number; wrongSignature: boolean },
  ending: AbortSignal,
): Promise<DeliveryAttempt> {
  const began = Date.now();
  const payload = JSON.stringify(event, null, 2);
  const secret = wrongSignature ? 'another_webhook_secret' : (endpoint.secret ?? '');
  const signature = Stripe.webhooks.generateTestHeaderString({
    payload,
    secret,
    timestamp: Math.floor(signedAt / 1000),
  });
  const at = new Date(began).toISOString();
  try {
    const response = await fetch(endpoint.url, {
      method: 'POST',
      body: payload,
      redirect: 'manual',
      headers: {
        'Content-Type': 'application/json; charset=utf-8',
        'User-Agent': 'Sandbox payments',
        'Payment-Signature': signature,
        'Stripe-Signature': signature,
      },
      signal: AbortSignal.any([AbortSignal.timeout(attemptTimeoutMs), ending]),
    });
    const answer = (await response.text()).slice(0, 500);
    return { at, status: response.status, answer, ms: Date.now() - began };
  } catch (error) {
    return { at, status: null, answer: reason(error), ms: Date.now() - began };
  }
}

function reason(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error && cause.message ? `${message}: ${cause.message}` : message;
}
