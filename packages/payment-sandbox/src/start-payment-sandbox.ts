import { handleApi } from './api/api-handler.ts';
import { readEventTypes } from './events/webhook-endpoints.ts';
import { sendPage } from './http/answer.ts';
import { html } from './http/html.ts';
import { page } from './http/page.ts';
import type { Exchange } from './http/request.ts';
import { type Handler, startServer } from './http/server.ts';
import { handlePages } from './pages/pages-handler.ts';
import type { PaymentProvider } from './payment-controls.ts';
import { startPaymentProvider } from './payment-provider.ts';

export interface PaymentSandboxOptions {
  /** By default 0, which chooses a free port. */
  port?: number;
  /** The file that keeps the state; by default null, which keeps it in memory only. */
  path?: string | null;
  /** Where events are sent; by default null, until `payment.setWebhookUrl`. */
  webhookUrl?: string | null;
  secretKey?: string;
  webhookSecret?: string;
  /** The event types that are sent to `webhookUrl`; by default all. */
  webhookEvents?: readonly string[];
  /** False: no product, no price and no portal configuration to begin with. */
  seeded?: boolean;
}

export interface PaymentSandbox {
  url: string;
  secretKey: string;
  webhookSecret: string;
  /** The second argument of the SDK's constructor, by which it sends its requests to this sandbox. */
  sdkOptions: { host: string; port: number; protocol: 'http'; maxNetworkRetries: 0 };
  /** The clock, the switches, the deliveries, and what a customer does on the hosted pages. */
  payment: PaymentProvider;
  close(): Promise<void>;
}

/**
 * Starts the payment provider in this process, on the loopback address only. It accepts
 * requests when the promise resolves.
 *
 * @throws Error EADDRINUSE if the port is in use, and an Error if the file at `path` is not JSON, or if
 *   `webhookEvents` names a type that does not exist.
 */
export async function startPaymentSandbox(options: PaymentSandboxOptions = {}): Promise<PaymentSandbox> {
  const { port = 0, path = null, webhookUrl = null, webhookEvents = ['*'], seeded = true } = options;
  const { secretKey = 'sk_test_sandbox', webhookSecret = 'sandbox_webhook_secret' } = options;
  readEventTypes(webhookEvents);
  const handlers: Handler[] = [];
  const server = await startServer(port, handlers);
  const url = `http://localhost:${server.port}`;
  const payment = startPaymentProvider({ url, path, secretKey, webhookSecret, webhookEvents, seeded });
  handlers.push(
    handleStartPage,
    (exchange) => handleApi(payment.provider, exchange),
    (exchange) => handlePages(payment.provider, exchange),
  );
  if (webhookUrl !== null) payment.setWebhookUrl(webhookUrl);

  return {
    url,
    secretKey,
    webhookSecret,
    sdkOptions: { host: 'localhost', port: server.port, protocol: 'http', maxNetworkRetries: 0 },
    payment,
    async close() {
      payment.close();
      await server.close();
    },
  };
}

function handleStartPage({ res, path }: Exchange): boolean {
  if (path !== '/') return false;
  const body = html`<h1>Sandbox payments</h1><p>The API is at <code>/v1</code>. Its answers hold the addresses of the hosted pages.</p>`;
  sendPage(res, 200, page({ title: 'Sandbox payments', width: 'narrow', body }));
  return true;
}
