import { handleApi } from './api/api-handler.ts';
import type { Handler } from './http/server.ts';
import { startServer } from './http/server.ts';
import { handlePages } from './pages/pages-handler.ts';
import type { PaymentProvider } from './payment-controls.ts';
import { startPaymentProvider } from './payment-provider.ts';

export interface PaymentSandboxOptions {
  /** 0 chooses a free one. */
  port: number;
  /** The file in which everything is kept; null: in memory alone. */
  path: string | null;
  /** The origin of the service that gets the events; null until `setServiceUrl`. */
  serviceUrl?: string | null;
  secretKey: string;
  webhookSecret: string;
  /** False: no product, no price and no portal configuration to begin with. */
  seeded?: boolean;
}

export interface PaymentSandbox {
  url: string;
  payment: PaymentProvider;
  /** Sends the events to `/webhooks/payment` of this origin. */
  setServiceUrl(url: string): void;
  close(): Promise<void>;
}

/** Starts the payment provider alone in this process, on the loopback address. */
export async function startPaymentSandbox(options: PaymentSandboxOptions): Promise<PaymentSandbox> {
  const { port, path, serviceUrl = null, secretKey, webhookSecret, seeded = true } = options;
  const handlers: Handler[] = [];
  const server = await startServer(port, handlers);
  const url = `http://localhost:${server.port}`;
  const payment = startPaymentProvider({ url, path, secretKey, webhookSecret, seeded });
  handlers.push(
    (exchange) => handleApi(payment.provider, exchange),
    (exchange) => handlePages(payment.provider, exchange),
  );
  if (serviceUrl !== null) setServiceUrl(serviceUrl);

  function setServiceUrl(origin: string): void {
    payment.setWebhookUrl(`${origin.replace(/\/$/, '')}/webhooks/payment`);
  }

  return {
    url,
    payment,
    setServiceUrl,
    async close() {
      payment.close();
      await server.close();
    },
  };
}
