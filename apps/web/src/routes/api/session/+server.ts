import { jsonEndpoint } from '#lib/server/http/json-endpoint.ts';

/** Who is it: as JSON, and as headers for a reverse proxy that guards a product. */
export const GET = jsonEndpoint(
  (api) => api.sessions.verify(),
  ({ user, organisation, scopes }) => ({
    'x-gatehouse-user': user.id,
    ...(organisation && { 'x-gatehouse-organisation': organisation.id }),
    'x-gatehouse-scopes': scopes.join(' '),
  }),
);
