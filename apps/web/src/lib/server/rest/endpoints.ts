import { receiveEvent } from '@gatehouse/api/billing/events/receive-event';
import { type Endpoint, type Method, reads, withPath, writes } from './endpoint.ts';

/**
 * The REST endpoints by path and method. `[name]` is a parameter. Other methods answer 405, HEAD
 * answers as GET, and other paths below /api and /webhooks answer 404.
 */
export const endpoints: Record<string, Partial<Record<Method, Endpoint>>> = {
  '/api/login': { POST: writes((api, body) => api.signIn.withPassword(body)) },
  '/api/logout': { POST: writes((api, body) => api.signIn.out(body)) },
  '/api/signup': { POST: writes((api, body) => api.accounts.signUp(body)) },
  '/api/signup/resend': { POST: writes((api, body) => api.accounts.resend(body)) },
  /** The principal as JSON, and as headers for a reverse proxy in front of a product. */
  '/api/session': {
    GET: reads(
      (api) => api.sessions.verify(),
      ({ user, organisation, scopes }) => ({
        'x-gatehouse-user': user.id,
        ...(organisation && { 'x-gatehouse-organisation': organisation.id }),
        'x-gatehouse-scopes': scopes.join(' '),
      }),
    ),
  },
  '/api/subscription': { GET: reads((api) => api.subscription.read()) },
  '/api/billing/checkout': { POST: writes((api, body) => api.billing.checkout(body)) },
  '/api/billing/portal': { POST: writes((api, body) => api.billing.portal(body)) },
  '/api/billing/cancel': { POST: writes((api, body) => api.billing.cancel(body)) },
  '/api/billing/resume': { POST: writes((api, body) => api.billing.resume(body)) },
  '/api/organisations': { GET: reads((api, { query }) => api.organisations.list(query)) },
  '/api/organisations/[id]/entitlements': {
    GET: reads((api, { path: { id = '' } }) => api.entitlements.get({ organisation: id })),
  },
  '/api/organisations/[id]/entitlements/[name]': {
    GET: reads((api, { path: { id = '', name = '' } }) => api.entitlements.check({ organisation: id, name })),
  },
  '/api/organisations/[id]/members': {
    GET: reads((api, { path: { id = '' }, query }) => api.members.list({ ...query, organisation: id })),
  },
  '/api/changes': { GET: reads((api, { query }) => api.changes.since(query)) },
  '/api/usage/reserve': { POST: writes((api, body) => api.usage.reserve(body)) },
  '/api/usage/release': { POST: writes((api, body) => api.usage.release(body)) },
  '/api/usage/report': { POST: writes((api, body) => api.usage.report(body)) },
  '/api/usage/[meter]': {
    GET: reads((api, { path: { meter }, query }) =>
      // The procedure refuses a query without the organisation.
      api.usage.read({ ...query, meter } as Parameters<typeof api.usage.read>[0]),
    ),
    PUT: writes((api, body: Parameters<typeof api.usage.set>[0], { path: { meter = '' } }) =>
      api.usage.set(withPath(body, { meter })),
    ),
  },
  '/api/token': { POST: writes((api, body) => api.tokens.issue(body)) },
  '/api/openapi.json': { GET: reads((api) => api.service.openapi()) },
  /** A key is published an hour before it signs, so five minutes in a cache are safe. */
  '/.well-known/jwks.json': {
    GET: reads(
      (api) => api.tokens.keySet(),
      () => ({ 'cache-control': 'public, max-age=300' }),
    ),
  },
  '/webhooks/payment': { POST: receivePaymentEvent },
};

/** Receives signed events, verified on their exact bytes. The status codes are those of the interface §4. */
async function receivePaymentEvent({ headers, readBytes }: Parameters<Endpoint>[0], { app, accepted }: App.Locals) {
  const body = await readBytes(accepted.largestBody);
  // The interface's name comes first; the provider sends the other one.
  const signature = headers.get('payment-signature') ?? headers.get('stripe-signature') ?? '';
  return { body: await receiveEvent(app, { body, signature }) };
}
