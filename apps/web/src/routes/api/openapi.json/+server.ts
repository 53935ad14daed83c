import { jsonEndpoint } from '#lib/server/http/json-endpoint.ts';

export const GET = jsonEndpoint((api) => api.service.openapi());
