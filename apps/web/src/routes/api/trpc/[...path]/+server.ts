import { appRouter } from '@gatehouse/api/router/root';
import type { RequestEvent } from '@sveltejs/kit';
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import { routerContext } from '#lib/server/router-context.ts';

function handle(event: RequestEvent): Promise<Response> {
  return fetchRequestHandler({
    endpoint: '/api/trpc',
    req: event.request,
    router: appRouter,
    allowBatching: false,
    createContext: () => routerContext(event),
  });
}

export const GET = handle;
export const POST = handle;
