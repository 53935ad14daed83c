import { jsonEndpoint } from '#lib/server/http/json-endpoint.ts';

export const GET = jsonEndpoint((api, _, { path: { id } }) => api.entitlements.get({ organisation: id ?? '' }));
