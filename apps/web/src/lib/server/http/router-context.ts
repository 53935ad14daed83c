import type { Context } from '@gatehouse/api/router/trpc';
import type { RequestEvent } from '@sveltejs/kit';
import { sessionActions } from '../session/cookies.ts';

/** The router's context for a request. */
export function routerContext(event: Pick<RequestEvent, 'locals' | 'cookies'>): Context {
  const { app, principal, requestId, client } = event.locals;
  return { app, principal, requestId, client, session: sessionActions(event) };
}
