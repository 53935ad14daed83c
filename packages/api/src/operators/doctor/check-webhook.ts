import type { App } from '../../app.ts';
import { subscribedTypes } from '../../billing/events/event-handlers.ts';
import { webhookUrl } from '../../platform/links.ts';
import {
  apiVersion,
  thinDestinations,
  type WebhookEndpoint,
  webhookEndpoints,
} from '../../platform/providers/payment/account.ts';
import { type Payment, providerErrorOf } from '../../platform/providers/payment/connection.ts';
import { signDelivery } from '../../platform/providers/payment/verify-delivery.ts';
import { type Finding, note, right, wrong } from './finding.ts';

const timeoutMilliseconds = 5000;

/**
 * Checks how events reach the service: the secret, our webhook endpoint, and the endpoint's settings
 * at the provider.
 */
export async function checkWebhook(app: App): Promise<Finding[]> {
  if (app.payment === null || app.config.publicBaseUrl === null) return [];

  const url = webhookUrl(app.config);
  const found = [await checkSecret(app, url), await checkEndpoint(app.payment, url)].filter((each) => each !== null);
  return [...found, ...(await checkPayloads(app.payment, url))];
}

/**
 * Sends a correctly signed body that is not an event. An endpoint with the same secret
 * answers 400 with that reason, and stores nothing.
 */
async function checkSecret(app: App, url: string): Promise<Finding | null> {
  const about = 'Webhook secret';
  const [secret] = app.config.webhookSecrets;
  if (secret === undefined) {
    const sentence =
      'PAYMENT_WEBHOOK_SECRET is not set, so every event is refused. Copy it from the endpoint at the provider.';
    return wrong(about, sentence);
  }

  const body = '{}';
  const signature = await signDelivery(body, secret, app.now());
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'payment-signature': signature },
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMilliseconds),
  }).then(
    async (answer) => ({ status: answer.status, text: await answer.text() }),
    () => null,
  );
  // checkService reports that nothing answers.
  if (response === null) return null;
  if (response.status === 400 && response.text.includes('This is not an event.')) {
    return right(about, `${url} takes what is signed with it.`);
  }
  const sentence = `${url} refuses what is signed with it (${response.status}). Restart the service with this configuration, and let the proxy pass the body and its headers on unchanged.`;
  return wrong(about, sentence);
}

async function checkEndpoint({ ask }: Payment, url: string): Promise<Finding | null> {
  const about = 'Webhook endpoint';
  try {
    const ours = (await webhookEndpoints(ask)).filter((each) => each.url === url);
    const enabled = ours.filter(({ isEnabled }) => isEnabled);
    const live = enabled.find((each) => each.apiVersion === apiVersion) ?? enabled[0];
    if (live === undefined) {
      const sentence =
        ours.length > 0
          ? `The provider has switched the endpoint ${url} off. Switch it on again there.`
          : `The provider sends no events to ${url}. Run the admin command billing-setup, and set PAYMENT_WEBHOOK_SECRET to the secret that it prints. An endpoint that is made by hand needs snapshot payloads.`;
      return wrong(about, sentence);
    }
    return checkVersion(live, url) ?? checkTypes(live.types, url);
  } catch (error) {
    const { status } = providerErrorOf(error) ?? {};
    // checkPayment reports all other failures, such as an invalid key.
    if (status !== 403) return null;
    return note(about, 'This key may not read the endpoints: compare them with docs/payment.md by hand.');
  }
}

/** An event of a thin payload names its object and does not hold it, so the webhook refuses it. */
async function checkPayloads({ ask }: Payment, url: string): Promise<Finding[]> {
  const about = 'Webhook payloads';
  try {
    const thin = await thinDestinations(ask, url);
    return thin.map((name) => wrong(about, `“${name}” sends thin payloads to ${url}. Choose snapshot payloads.`));
  } catch {
    // The endpoint works without it, and checkPayment reports a provider that does not answer.
    const sentence = `The event destinations could not be looked up: those that send to ${url} need snapshot payloads. A restricted key needs Event Destinations (Read).`;
    return [note(about, sentence)];
  }
}

/** Events of another version are read, with what they tell; the service is written for its own. */
function checkVersion({ apiVersion: sent }: WebhookEndpoint, url: string): Finding | null {
  if (sent === apiVersion) return null;
  const sentence = `The provider sends events of ${sent ?? 'the account’s default version'} to ${url}, and this release is written for ${apiVersion}. Run the admin command billing-setup: it makes an endpoint of that version beside it.`;
  return note('Webhook endpoint', sentence);
}

function checkTypes(enabled: string[], url: string): Finding {
  const about = 'Webhook endpoint';
  if (enabled.includes('*') || enabled.includes('invoice.created')) {
    const sentence = `${url} also gets invoice.created, and invoices wait up to 72 h for an endpoint that fails. Choose the events one by one, without it.`;
    return note(about, sentence);
  }
  const missing = subscribedTypes.filter((type) => !enabled.includes(type));
  if (missing.length > 0) return wrong(about, `${url} does not get ${missing.join(', ')}. Add them at the provider.`);
  return right(about, `The provider sends what we need to ${url}.`);
}
