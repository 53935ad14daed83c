import type { App } from '@gatehouse/api/app';

/** `route` is the pattern of the path: the number of label values stays small, and none contains an id. */
type About = { requestId: string; method: string; route: string };

/** Runs a request in its own span, as a child of the caller's if the request has a traceparent. */
export function tracedRequest(
  { traces }: App,
  { requestId, method, route }: About,
  headers: Headers,
  answer: () => Promise<Response> | Response,
): Promise<Response> {
  const attributes = { 'http.request.method': method, 'http.route': route, 'gatehouse.request_id': requestId };
  const parent = headers.get('traceparent');
  return traces.run({ name: `${method} ${route}`, kind: 'server', attributes, parent }, async (span) => {
    const response = await answer();
    span.set({ 'http.response.status_code': response.status });
    if (response.status >= 500) span.fail(String(response.status));
    return response;
  });
}

export function countRequest(
  { metrics }: App,
  { method, route }: About,
  { status, milliseconds }: { status: number; milliseconds: number },
): void {
  const labels = { method, route, status: String(status) };
  metrics.time('gatehouse_http_request_duration_seconds', labels, milliseconds / 1000);
}
