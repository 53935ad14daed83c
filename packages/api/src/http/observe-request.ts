import { failureOfStatus } from './error-response.ts';
import type { RequestState } from './request.ts';

/** `route` is the pattern of the path: the number of label values stays small, and none contains an id. */
type ObservedRequest = { method: string; route: string; headers: Pick<Headers, 'get'> };

type ObservedState = Pick<RequestState, 'app' | 'requestId' | 'principal' | 'failure'>;

/**
 * Answers a request within its own span, a child of the caller's if the request has a traceparent, and
 * writes its log line and metrics. They contain no query, header or body, so no secrets; the line names
 * user and organisation by pseudonyms, and an error by its code.
 */
export async function observeRequest<Answer extends { status: number }>(
  state: ObservedState,
  { method, route, headers }: ObservedRequest,
  answer: () => Promise<Answer>,
): Promise<Answer> {
  const { app, requestId } = state;
  const started = performance.now();
  const attributes = { 'http.request.method': method, 'http.route': route, 'gatehouse.request_id': requestId };
  const parent = headers.get('traceparent');
  const response = await app.traces.run(
    { name: `${method} ${route}`, kind: 'server', attributes, parent },
    async (span) => {
      const answered = await answer();
      span.set({ 'http.response.status_code': answered.status });
      if (answered.status >= 500) span.fail(String(answered.status));
      return answered;
    },
  );
  const { status } = response;
  const milliseconds = performance.now() - started;
  app.log.info('request', {
    requestId,
    method,
    route,
    status,
    milliseconds: Math.round(milliseconds),
    ...callerFields(state),
    ...(status >= 400 && (state.failure ?? failureOfStatus(status))),
  });
  app.metrics.time(
    'gatehouse_http_request_duration_seconds',
    { method: measuredMethods.has(method) ? method : '_OTHER', route, status: String(status) },
    milliseconds / 1000,
  );
  return response;
}

/** Any other method is one value of the metric's label (OpenTelemetry's convention): nobody may add series at will. */
const measuredMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The user and organisation of a request by their pseudonyms; the API key by its id, which does not authenticate. */
function callerFields({ app, principal }: ObservedState) {
  if (!principal) return {};
  const { organisationId } = principal;
  return {
    ...(principal.kind === 'user' ? { user: app.pseudonymOf(principal.user.id) } : { key: principal.key.id }),
    ...(organisationId !== null && { organisation: app.pseudonymOf(organisationId) }),
  };
}
