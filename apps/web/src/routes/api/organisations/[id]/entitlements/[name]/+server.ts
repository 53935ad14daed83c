import { jsonEndpoint } from '#lib/server/http/json-endpoint.ts';

export const GET = jsonEndpoint((api, _, { path: { id, name } }) =>
  api.entitlements.check({ organisation: id ?? '', name: name ?? '' }),
);
