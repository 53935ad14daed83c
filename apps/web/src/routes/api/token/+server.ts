import { jsonEndpoint } from '#lib/server/http/json-endpoint.ts';

export const POST = jsonEndpoint((api, body) => api.tokens.issue(body));
