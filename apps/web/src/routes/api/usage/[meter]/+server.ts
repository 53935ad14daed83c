import { jsonEndpoint, withPath } from '#lib/server/http/json-endpoint.ts';

export const GET = jsonEndpoint((api, _, { path: { meter }, query }) =>
  // The procedure refuses a query without the organisation.
  api.usage.read({ ...query, meter } as Parameters<typeof api.usage.read>[0]),
);

export const PUT = jsonEndpoint((api, body: Parameters<typeof api.usage.set>[0], { path: { meter } }) =>
  api.usage.set(withPath(body, { meter: meter ?? '' })),
);
