import type { Context } from '@gatehouse/api/router/trpc';
import type { RequestEvent } from '@sveltejs/kit';

/** The router's context for a request. */
export function routerContext(event: Pick<RequestEvent, 'locals'>): Context {
  const { app, principal, requestId, client, session } = event.locals;
  return { app, principal, requestId, client, session };
}
