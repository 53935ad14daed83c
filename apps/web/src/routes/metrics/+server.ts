import { metricsEndpoint } from '#lib/server/http/metrics-endpoint.ts';

export const GET = metricsEndpoint;
export const fallback = metricsEndpoint;
