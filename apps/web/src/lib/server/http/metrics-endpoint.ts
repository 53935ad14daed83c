import { errorResponse } from '@gatehouse/api/http/error-response';
import { AppError } from '@gatehouse/api/platform/errors';
import { constantTimeEqual } from '@gatehouse/api/platform/security/token';
import { readMetrics } from '@gatehouse/api/platform/telemetry/read-metrics';
import type { RequestEvent } from '@sveltejs/kit';
import { rejectRequest } from './reject-request.ts';

/** The metrics, for requests with a bearer token of METRICS_TOKEN (RFC 6750 §2.1, §3). Answers 404 if none is configured. */
export async function metricsEndpoint(event: RequestEvent): Promise<Response> {
  const { app } = event.locals;
  const tokens = app.config.metricsTokens;
  if (tokens.length === 0) return rejectRequest(event, new AppError('NOT_FOUND', 'There is no such path.'));
  const sent = event.request.headers.get('authorization') ?? '';
  if (!tokens.some((token) => constantTimeEqual(sent, `Bearer ${token}`))) {
    return errorResponse(new AppError('UNAUTHENTICATED', 'This takes the token of METRICS_TOKEN.'), {
      'www-authenticate': 'Bearer',
    });
  }

  const { text, contentType } = await readMetrics(app);
  return new Response(text, { headers: { 'content-type': contentType } });
}
