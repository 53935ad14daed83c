import { jsonEndpoint } from '#lib/server/http/json-endpoint.ts';

/** The principal as JSON, and as headers for a reverse proxy in front of a product. */
export const GET = jsonEndpoint(
  (api) => api.sessions.verify(),
  ({ user, organisation, scopes }) => ({
    'x-gatehouse-user': user.id,
    ...(organisation && { 'x-gatehouse-organisation': organisation.id }),
    'x-gatehouse-scopes': scopes.join(' '),
  }),
);
