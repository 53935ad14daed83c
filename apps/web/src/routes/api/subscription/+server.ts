import { jsonEndpoint } from '#lib/server/json-endpoint.ts';

export const GET = jsonEndpoint((api) => api.subscription.read());
