import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import Stripe from 'stripe';
import { type PaymentSandbox, startPaymentSandbox } from './start-payment-sandbox.ts';

/** An event that the service received, and the headers of its request. */
export interface Received {
  event: Stripe.Event;
  headers: IncomingMessage['headers'];
}

/** A server in place of the service. It verifies and collects each event. */
export interface FakeService {
  url: string;
  received: Received[];
  /** Statuses for the next events; 200 when there are none left. */
  answers: number[];
  /** How many requests had a wrong signature. */
  refused: number;
  close(): Promise<void>;
}

export const webhookSecret = 'sandbox_webhook_secret';

/** Starts it on a free port. */
export async function startFakeService(): Promise<FakeService> {
  const service: Omit<FakeService, 'url' | 'close'> = { received: [], answers: [], refused: 0 };
  const server = createServer(async (req, res) => {
    if (req.url === '/elsewhere') return void res.end('{}');
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    try {
      const signature = String(req.headers['payment-signature']);
      const event = Stripe.webhooks.constructEvent(Buffer.concat(chunks).toString(), signature, webhookSecret);
      const status = service.answers.shift() ?? 200;
      if (status === 200) service.received.push({ event, headers: req.headers });
      res.writeHead(status, status === 302 ? { Location: '/elsewhere' } : {}).end('{}');
    } catch {
      service.refused += 1;
      res.writeHead(400).end('{}');
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(service, {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

/**
 * Starts a sandbox that sends its events to `/webhooks/payment` of the service. With `dataDir` it keeps
 * its state there.
 */
export function startTestSandbox(
  options: { serviceUrl?: string; dataDir?: string; seeded?: boolean } = {},
): Promise<PaymentSandbox> {
  return startPaymentSandbox({
    path: options.dataDir === undefined ? null : join(options.dataDir, 'payments.json'),
    webhookUrl: `${options.serviceUrl ?? 'http://localhost:3000'}/webhooks/payment`,
    webhookSecret,
    seeded: options.seeded ?? true,
  });
}

/** Returns the unmodified SDK with the host and key of a sandbox. */
export function sdk(
  sandbox: { payment: { apiUrl: string; secretKey: string } },
  config: ConstructorParameters<typeof Stripe>[1] = {},
): Stripe {
  const { hostname, port } = new URL(sandbox.payment.apiUrl);
  const { secretKey } = sandbox.payment;
  return new Stripe(secretKey, { host: hostname, port, protocol: 'http', maxNetworkRetries: 0, ...config });
}
