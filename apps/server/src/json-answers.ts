// What the server answers itself, without the application.

import type { IncomingMessage, ServerResponse } from 'node:http';

/** Answers GET /healthz. */
export function answerHealth(request: IncomingMessage, response: ServerResponse) {
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuseMethod(response, 'GET, HEAD');
  send(response, 200, { ok: true });
}

/**
 * Answers GET /readyz. `readiness` resolves to null, or to the code of the reason. Without Kit: its first request loads
 * what takes 40 ms, and a load balancer counts them to the start.
 */
export async function answerReadiness(
  request: IncomingMessage,
  response: ServerResponse,
  readiness: () => Promise<string | null>,
) {
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuseMethod(response, 'GET, HEAD');

  const reason = await readiness();
  if (reason === null) return send(response, 200, { ready: true });
  response.setHeader('Retry-After', '5');
  send(response, 503, { ready: false, reason });
}

/** Answers 405, with the methods that are allowed. */
export function refuseMethod(response: ServerResponse, allow: string) {
  response.setHeader('Allow', allow);
  refuse(response, 405, 'METHOD_NOT_ALLOWED', 'This method is not allowed here.');
}

/** Answers with an error in the form of the application's. */
export function refuse(response: ServerResponse, status: number, code: string, error: string): void {
  send(response, status, { error, code });
}

export const headersOfJson = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };

function send(response: ServerResponse, status: number, body: object) {
  response.writeHead(status, headersOfJson);
  response.end(JSON.stringify(body));
}
