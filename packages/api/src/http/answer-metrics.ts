import { AppError } from '../platform/errors.ts';
import { constantTimeEqual } from '../platform/security/token.ts';
import { readMetrics } from '../platform/telemetry/read-metrics.ts';
import { recordFailure } from './error-response.ts';
import type { EndpointAnswer, EndpointRequest, RequestState } from './request.ts';

const refusal = new AppError('UNAUTHENTICATED', 'This takes the token of METRICS_TOKEN.');

/** Answers GET /metrics for requests with a bearer token of METRICS_TOKEN (RFC 6750 §2.1, §3). */
export async function answerMetrics(state: RequestState, { headers }: EndpointRequest): Promise<EndpointAnswer> {
  const { app } = state;
  const sent = headers.get('authorization') ?? '';
  if (!app.config.metricsTokens.some((token) => constantTimeEqual(sent, `Bearer ${token}`))) {
    recordFailure(state, refusal);
    const { message: error, code } = refusal;
    return { status: 401, headers: { 'www-authenticate': 'Bearer' }, body: JSON.stringify({ error, code }) };
  }

  const { text, contentType } = await readMetrics(app);
  return { status: 200, headers: { 'content-type': contentType }, body: text };
}
