import http from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';

const agents = { http: new http.Agent({ keepAlive: true }), https: new https.Agent({ keepAlive: true }) };

/**
 * An HTTP client for the provider's SDK whose requests are over, and their sockets
 * closed, `timeout` milliseconds after they began or when `signal` says so: wherever
 * they stand, from connecting to the last byte of the body. (The SDK's own client counts
 * the silence between two bytes, and nothing at all before it is connected.)
 */
export function boundedRequests(signal: AbortSignal) {
  return {
    getClientName: () => 'node',
    makeRequest(
      host: string,
      port: string,
      path: string,
      method: string,
      headers: object,
      body: string,
      protocol: string,
      timeout: number,
    ) {
      const scheme = protocol === 'http' ? 'http' : 'https';
      const options = { host, port, path, method, headers: { ...headers }, agent: agents[scheme], signal };
      return new Promise<ReturnType<typeof readable>>((resolve, reject) => {
        const request = (scheme === 'http' ? http : https).request(options, async (response) => {
          try {
            resolve(readable(response, await text(response)));
          } catch (error) {
            reject(error);
          }
        });
        const timer = setTimeout(() => {
          // First, because closing a connection that has begun to answer looks like the provider's doing.
          reject(timedOut());
          request.destroy();
        }, timeout);
        request.on('error', reject).on('close', () => clearTimeout(timer));
        request.end(body);
      });
    },
  };
}

/** A response in the SDK's words. The whole of it is there, so nothing is left to wait for. */
function readable(response: http.IncomingMessage, body: string) {
  return {
    getStatusCode: () => response.statusCode ?? 0,
    getHeaders: () => response.headers as Record<string, string>,
    getRawResponse: () => response,
    toStream(): never {
      throw new Error('Answers of the payment provider are read as a whole.');
    },
    toJSON: async () => JSON.parse(body),
  };
}

/** By this code the SDK knows a timeout. */
function timedOut(): Error {
  return Object.assign(new Error('ETIMEDOUT'), { code: 'ETIMEDOUT' });
}
