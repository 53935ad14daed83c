import { Refusal } from '@gatehouse/api/errors';
import { constantTimeEqual } from '@gatehouse/api/security/constant-time';
import { readMetrics } from '@gatehouse/api/watch/read-metrics';
import type { RequestEvent } from '@sveltejs/kit';
import { refusalResponse } from './refusal.ts';
import { refuseRequest } from './refuse-request.ts';

/** Metrics for whoever bears METRICS_TOKEN (RFC 6750 §2.1, §3). Without one there is nothing here. */
export async function metricsDoor(event: RequestEvent): Promise<Response> {
  const { app } = event.locals;
  const token = app.config.metricsToken;
  if (token === null) return refuseRequest(event, new Refusal('NOT_FOUND', 'There is nothing here.'));
  if (!constantTimeEqual(event.request.headers.get('authorization') ?? '', `Bearer ${token}`)) {
    return refusalResponse(new Refusal('UNAUTHENTICATED', 'This takes the token of METRICS_TOKEN.'), {
      'www-authenticate': 'Bearer',
    });
  }

  const { text, contentType } = await readMetrics(app);
  return new Response(text, { headers: { 'content-type': contentType } });
}
