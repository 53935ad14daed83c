import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import Stripe from 'stripe';
import { type Sandbox, startSandbox } from './sandbox.ts';

export interface Received {
  event: Stripe.Event;
  headers: IncomingMessage['headers'];
}

/** A service that does nothing but check and collect the events it gets. */
export interface FakeService {
  url: string;
  received: Received[];
  /** Statuses for the next events; 200 when there are none left. */
  answers: number[];
  refused: number;
  close(): Promise<void>;
}

export const webhookSecret = 'sandbox_webhook_secret';

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

export function startTestSandbox(
  options: { serviceUrl?: string; dataDir?: string; seeded?: boolean } = {},
): Promise<Sandbox> {
  return startSandbox({
    port: 0,
    smtpPort: 0,
    dataDir: options.dataDir ?? null,
    serviceUrl: options.serviceUrl ?? 'http://localhost:3000',
    idp: { clientId: 'sandbox-client', clientSecret: 'sandbox_client_secret' },
    payment: { secretKey: 'sandbox_secret_key', webhookSecret, seeded: options.seeded ?? true },
  });
}

/** The unmodified SDK, pointed at a sandbox. */
export function sdk(sandbox: Sandbox, config: ConstructorParameters<typeof Stripe>[1] = {}): Stripe {
  const { hostname, port } = new URL(sandbox.payment.apiUrl);
  return new Stripe('sandbox_secret_key', { host: hostname, port, protocol: 'http', maxNetworkRetries: 0, ...config });
}

/** As much of a browser as sign-in needs: it keeps cookies by path and follows redirects within one origin. */
export function openBrowser() {
  const jar = new Map<string, { value: string; path: string }>();
  return { open, jar };

  async function open(address: string, form?: Record<string, string>): Promise<Response & { at: string }> {
    let url = address;
    let body = form && new URLSearchParams(form);
    for (let hops = 0; hops < 10; hops += 1) {
      const cookie = [...jar]
        .filter(([, { path }]) => new URL(url).pathname.startsWith(path))
        .map(([name, { value }]) => `${name}=${value}`)
        .join('; ');
      const response = await fetch(url, {
        redirect: 'manual',
        headers: { cookie },
        ...(body && { method: 'POST', body }),
      });
      for (const line of response.headers.getSetCookie()) keep(line);
      const location = response.headers.get('location');
      const next = location && new URL(location, url);
      if (!next || next.origin !== new URL(url).origin) return Object.assign(response, { at: next ? next.href : url });
      url = next.href;
      body = undefined;
    }
    throw new Error('Too many redirects.');
  }

  function keep(line: string): void {
    const [pair = '', ...attributes] = line.split('; ');
    const name = pair.slice(0, pair.indexOf('='));
    const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice(5) ?? '/';
    const expires = attributes.find((attribute) => /^expires=/i.test(attribute))?.slice(8);
    if (expires && new Date(expires) < new Date()) jar.delete(name);
    else jar.set(name, { value: pair.slice(pair.indexOf('=') + 1), path });
  }
}
