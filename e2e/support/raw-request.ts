import http from 'node:http';
import type { Service } from './service.ts';

export type RawRequest = { method?: string; headers?: Record<string, string>; body?: string | Uint8Array };
export type Answer = { status: number; headers: http.IncomingHttpHeaders; text: string };

/** Sends a request that no browser would send: fetch would add headers. */
export function send(
  service: Pick<Service, 'baseUrl'>,
  path: string,
  { method = 'GET', headers = {}, body = '' }: RawRequest = {},
): Promise<Answer> {
  const { port } = new URL(service.baseUrl);
  return new Promise((resolve, reject) => {
    const request = http.request({ port, host: '127.0.0.1', path, method, headers }, (response) => {
      let text = '';
      response.on('data', (part) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    request.on('error', reject);
    const chunked = 'transfer-encoding' in headers;
    if (body.length > 0 && !chunked) request.setHeader('content-length', Buffer.byteLength(body));
    request.end(body);
  });
}
