import { jsonEndpoint } from '#lib/server/http/json-endpoint.ts';

/** A key is published an hour before it signs, so five minutes in a cache are safe. */
export const GET = jsonEndpoint(
  (api) => api.tokens.keySet(),
  () => ({ 'cache-control': 'public, max-age=300' }),
);
