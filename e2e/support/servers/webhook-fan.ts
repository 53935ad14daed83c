import http from 'node:http';
import { listenLocally } from './listen-locally.ts';

/**
 * Starts a server that sends each delivery to all targets at the same moment, twice to each, and
 * answers with the highest status.
 */
export async function startWebhookFan(targets: string[]): Promise<{ url: string; stop: () => Promise<void> }> {
  const server = http.createServer(async (request, response) => {
    const parts: Uint8Array[] = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    const headers = { 'payment-signature': String(request.headers['payment-signature']) };

    const deliveries = [...targets, ...targets].map((target) => fetch(target, { method: 'POST', headers, body }));
    const statuses = (await Promise.allSettled(deliveries)).map((each) =>
      each.status === 'fulfilled' ? each.value.status : 502,
    );
    response.writeHead(Math.max(...statuses)).end();
  });
  const { port, stop } = await listenLocally(server);

  return {
    url: `http://127.0.0.1:${port}`,
    stop,
  };
}
