import http from 'node:http';
import { listenLocally } from './listen-locally.ts';

export type Product = {
  /** Its origin, for RETURN_ORIGINS. */
  url: string;
  /**
   * Sets the service's URL. The service starts after the product, because it must know the
   * product's origin. `seenAs` are the public URLs behind a proxy.
   */
  setServiceUrl: (
    baseUrl: string,
    seenAs?: { gatehouse: string; product: string },
    /** Asks without the cookies of its request. */
    options?: { blind?: boolean },
  ) => void;
  stop: () => Promise<void>;
};

/**
 * Starts a company's product on another port. It has no accounts: it passes the cookies of each
 * request to GET /api/session, shows its page to signed-in users, and redirects all others to
 * sign-in.
 */
export async function startProduct(): Promise<Product> {
  let gatehouse = '';
  let seen = { gatehouse: '', product: '' };
  let isBlind = false;
  const server = http.createServer(async (request, response) => {
    const answer = await fetch(`${gatehouse}/api/session`, {
      headers: { cookie: isBlind ? '' : (request.headers.cookie ?? '') },
    });
    if (answer.status === 403) return response.writeHead(302, { location: `${seen.gatehouse}/` }).end();
    if (!answer.ok) {
      const returnTo = encodeURIComponent(`${seen.product}${request.url}`);
      return response.writeHead(302, { location: `${seen.gatehouse}/login?return_to=${returnTo}` }).end();
    }
    const { user, organisation } = (await answer.json()) as Record<string, Record<string, string>>;
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(`<!doctype html><title>Product</title><h1>Orders of ${organisation?.slug}</h1><p>${user?.email}</p>`);
  });
  const { port, stop } = await listenLocally(server);
  const url = `http://localhost:${port}`;

  return {
    url,
    setServiceUrl(baseUrl, seenAs = { gatehouse: baseUrl, product: url }, { blind = false } = {}) {
      gatehouse = baseUrl;
      isBlind = blind;
      seen = seenAs;
    },
    stop,
  };
}
