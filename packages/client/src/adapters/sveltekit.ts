import { type Gatehouse, type GuardOptions, guardRequest, type Session } from '../client.ts';

/** What the hook uses of SvelteKit's event. */
type Input<Event> = { event: Event; resolve: (event: Event) => Response | Promise<Response> };

/** A `handle` hook of SvelteKit: lets signed-in users through, with `event.locals.session`. */
export function requireSession(gatehouse: Gatehouse, options: GuardOptions = {}) {
  return async <Event extends { request: Request; locals: object }>({
    event,
    resolve,
  }: Input<Event>): Promise<Response> => {
    const session = await guardRequest(gatehouse, event.request, options);
    if (session instanceof Response) return session;
    (event.locals as { session: Session }).session = session;
    return resolve(event);
  };
}
