import http from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';

const agents = { http: new http.Agent({ keepAlive: true }), https: new https.Agent({ keepAlive: true }) };

/**
 * Creates an HTTP client for the payment provider's SDK that limits the total time of a request:
 * `timeout` milliseconds after its start, or when `signal` aborts, the request fails and its socket
 * is closed, from connecting to the last byte of the body. (The SDK's own client limits only the
 * pause between two bytes, and only after it has connected.)
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
          // Rejects first, because the socket's own error would look like a failure of the provider.
          reject(timedOut());
          request.destroy();
        }, timeout);
        request.on('error', reject).on('close', () => clearTimeout(timer));
        request.end(body);
      });
    },
  };
}

/** Wraps a response, whose body was read completely, in the form that the SDK expects. */
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

/** The SDK recognises a timeout by this code. */
function timedOut(): Error {
  return Object.assign(new Error('ETIMEDOUT'), { code: 'ETIMEDOUT' });
}
