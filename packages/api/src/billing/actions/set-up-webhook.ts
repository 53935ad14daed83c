import { type Config, isLoopback } from '../../platform/config.ts';
import { webhookUrl } from '../../platform/links.ts';
import {
  apiVersion,
  createWebhookEndpoint,
  setWebhookTypes,
  type WebhookEndpoint,
  webhookEndpoints,
} from '../../platform/providers/payment/account.ts';
import { type Ask, providerErrorOf } from '../../platform/providers/payment/connection.ts';
import { subscribedTypes } from '../events/event-handlers.ts';

/** What was done, and the secret of an endpoint that was made, which the provider tells this once. */
type WebhookReport = { line: string; secret: string | null };

/**
 * Makes the webhook endpoint of this deployment, if the provider has none in our version for its address. One that is
 * there gets the event types that it lacks, and loses none. An endpoint of another version stays as it is, because its
 * version cannot be changed: a second one is made beside it, and until the old one is removed both secrets are valid.
 * There is none for an address on this machine, which the provider cannot reach; and a key that may not make one says so,
 * because the rest of the set-up does not need it.
 *
 * @throws AppError PROVIDER_UNAVAILABLE; INTERNAL without a canonical base URL.
 */
export async function setUpWebhook(config: Config, ask: Ask, metadata: Record<string, string>): Promise<WebhookReport> {
  const url = webhookUrl(config);
  const { hostname } = new URL(url);
  if (isLoopback(hostname) || hostname.endsWith('.localhost')) {
    return { line: `webhook: none, because the provider cannot reach ${url}`, secret: null };
  }
  try {
    return await ensureEndpoint(ask, url, metadata);
  } catch (error) {
    if (providerErrorOf(error)?.status !== 403) throw error;
    const line = `webhook: this key may not read or make endpoints; make one for ${url} by hand, as docs/payment.md says`;
    return { line, secret: null };
  }
}

async function ensureEndpoint(ask: Ask, url: string, metadata: Record<string, string>): Promise<WebhookReport> {
  const ours = (await webhookEndpoints(ask)).filter((each) => each.url === url);
  const current = currentOf(ours);
  if (current === undefined) return makeEndpoint(ask, url, ours, metadata);

  const missing = current.types.includes('*') ? [] : subscribedTypes.filter((type) => !current.types.includes(type));
  if (missing.length === 0) return { line: `webhook: endpoint ${current.id} was there`, secret: null };
  await setWebhookTypes(ask, current.id, [...current.types, ...missing]);
  return { line: `webhook: endpoint ${current.id} gets ${missing.join(', ')} too`, secret: null };
}

/** The endpoint in our version, an enabled one first. */
function currentOf(endpoints: WebhookEndpoint[]): WebhookEndpoint | undefined {
  const inOurs = endpoints.filter((each) => each.apiVersion === apiVersion);
  return inOurs.find(({ isEnabled }) => isEnabled) ?? inOurs[0];
}

async function makeEndpoint(
  ask: Ask,
  url: string,
  others: WebhookEndpoint[],
  metadata: Record<string, string>,
): Promise<WebhookReport> {
  const { id, secret } = await createWebhookEndpoint(ask, { url, types: subscribedTypes, metadata });
  const before = others.map((each) => each.id).join(', ');
  const rest =
    before === ''
      ? ''
      : ` beside ${before}, which has another version: name both secrets, separated by a comma, restart, and remove the old one at the provider`;
  return { line: `webhook: endpoint ${id} made${rest}`, secret };
}
