import { jsonEndpoint } from '#lib/server/http/json-endpoint.ts';

export const GET = jsonEndpoint((api, _, { query }) => api.changes.since(query));
