import { jsonEndpoint } from '#lib/server/http/json-endpoint.ts';

export const GET = jsonEndpoint((api, _, { path: { id }, query }) =>
  api.members.list({ ...query, organisation: id ?? '' }),
);
